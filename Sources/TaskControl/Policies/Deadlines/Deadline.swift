/// A point in time by which the work of a call must have ended, whatever the number of calls below it.
///
/// ```swift
/// try await withDeadline(in: .seconds(2)) {
///     let user = try await fetchUser()                        // has 2 seconds
///     let feed = try await retry { try await fetchFeed(user) }   // has what is left, and makes no attempt that would begin later
/// }
/// ```
///
/// A time limit belongs to one call; a deadline is inherited. ``withDeadline(in:clock:operation:)`` sets it for an operation, the child tasks of
/// the operation, and the tasks that it creates with `Task`, an owner or a queue. A detached task has none. The earlier of two deadlines counts.
///
/// `Task.currentDeadline` is the deadline of the running task. Code that is about to start something expensive can compare ``remaining`` with
/// the time that it needs.
public struct Deadline: Sendable, CustomStringConvertible {
    private enum Instant {
        /// Compared without a call through an existential.
        case continuous(ContinuousClock.Instant)
        case other(any ClockInstant)
    }

    private let instant: Instant

    /// Creates a deadline at an instant of a clock.
    ///
    /// - Parameters:
    ///   - instant: The instant.
    ///   - clock: The clock of the instant.
    public init<C: Clock>(_ instant: C.Instant, clock: C) where C.Duration == Duration {
        if let instant = instant as? ContinuousClock.Instant, clock is ContinuousClock {
            self.instant = .continuous(instant)
        } else {
            self.instant = .other(InstantOfClock(clock: clock, instant: instant))
        }
    }

    /// Creates a deadline after a duration.
    ///
    /// - Parameters:
    ///   - duration: The duration from now on. A duration of more than 100 years counts as 100 years.
    ///   - clock: The clock that measures the time.
    public init(in duration: Duration, clock: some Clock<Duration> = ContinuousClock()) {
        self.init(clock.now.advanced(by: duration.saturated), clock: clock)
    }

    /// The time until the deadline; negative after it.
    public var remaining: Duration {
        switch instant {
        case .continuous(let instant): ContinuousClock.now.duration(to: instant)
        case .other(let instant): instant.remaining
        }
    }

    /// Whether the deadline is not in the future.
    public var hasPassed: Bool { remaining <= .zero }

    /// Returns the earlier of two deadlines.
    ///
    /// Instants of different clocks are compared by the time that remains now.
    public static func earlier(_ one: Deadline, _ other: Deadline) -> Deadline { one.isBefore(other) ? one : other }

    /// The time that remains, such as "in 1.5 seconds".
    public var description: String {
        let remaining = remaining
        return remaining > .zero ? "in \(remaining)" : "\(Duration.zero - remaining) ago"
    }

    func isBefore(_ other: Deadline) -> Bool {
        if case .continuous(let one) = instant, case .continuous(let another) = other.instant { return one < another }
        return remaining < other.remaining
    }

    /// The clock that measures the time.
    var clock: any Clock<Duration> {
        switch instant {
        case .continuous: ContinuousClock()
        case .other(let instant): instant.clock
        }
    }

    /// A deadline as tasks inherit it.
    enum Inherited: Sendable {
        case fixed(Deadline)
        /// That of the flight that the task belongs to.
        case latest(_LatestDeadline)
    }

    @TaskLocal static var local: Inherited?

    /// The deadline of the current task, as it is now.
    static var current: Deadline? {
        switch local {
        case .fixed(let deadline): deadline
        case .latest(let deadline): deadline.current
        case nil: nil
        }
    }

    /// Whether the deadline of the current task may move to a later time.
    static var mayMove: Bool {
        if case .latest = local { true } else { false }
    }
}

extension Task where Success == Never, Failure == Never {
    /// The deadline of the running task: the earliest that was set around it; `nil` if there is none.
    ///
    /// In a flight, it is the latest deadline of the callers, which moves when another caller joins; `nil` if one of them has none.
    ///
    /// - Complexity: O(1): one look at a task-local value.
    public static var currentDeadline: Deadline? { Deadline.current }
}

/// An instant with its clock, which can tell how far away it is.
private protocol ClockInstant: Sendable {
    var remaining: Duration { get }
    var clock: any Clock<Duration> { get }
}

private struct InstantOfClock<C: Clock>: ClockInstant where C.Duration == Duration {
    let source: C
    let instant: C.Instant

    init(clock: C, instant: C.Instant) {
        source = clock
        self.instant = instant
    }

    var remaining: Duration { source.now.duration(to: instant) }
    var clock: any Clock<Duration> { source }
}
