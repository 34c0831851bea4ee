public import Foundation

/// A time of a ``CalendarSchedule`` at which work begins.
public struct CalendarTick: Hashable, Sendable, CustomStringConvertible {
    /// The time of the schedule: that for which the work was planned, not that at which it has begun.
    public let scheduled: Date
    /// The local time of ``scheduled`` with its offset to UTC, such as "2026-11-24T02:00:00+01:00". All machines with the
    /// same schedule have the same text for the same tick: pass it to `runOnce` of `TaskControlFleet` as the period.
    public let period: String
    /// Whether the time was missed by more than a minute, for example because the device slept: see
    /// ``CalendarSchedule/Missed``.
    public let isLate: Bool

    /// Creates a tick, for tests.
    ///
    /// - Parameters:
    ///   - scheduled: The time of the schedule.
    ///   - period: The text of the time.
    ///   - isLate: Whether the time was missed by more than a minute.
    public init(scheduled: Date, period: String, isLate: Bool = false) {
        (self.scheduled, self.period, self.isLate) = (scheduled, period, isLate)
    }

    /// The same text as ``period``.
    public var description: String { period }
}

extension CalendarSchedule {
    /// The rule for times of a schedule that were missed by more than a minute, because the device slept, the process
    /// was suspended, the clock was set forward, or the work of an earlier time took longer.
    @nonexhaustive
    public enum Missed: Hashable, Sendable, CaseIterable {
        /// The work begins once, as soon as possible, for all missed times together, with the last of them as its tick.
        case runOnce
        /// Missed times are left out.
        case skip
    }
}
