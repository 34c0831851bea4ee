/// A point in time by which the work of a call must have ended, including the work of all calls that it makes.
///
/// ```swift
/// try await withDeadline(in: .seconds(2)) {
///     let user = try await fetchUser()      // has 2 seconds
///     // Has the remaining time, and makes no attempt that would begin after the deadline.
///     let feed = try await retry { try await fetchFeed(user) }
/// }
/// ```
///
/// A time limit, such as that of ``withTimeout(_:clock:operation:)``, applies to one call; a deadline is inherited.
/// ``withDeadline(in:clock:operation:)`` sets the deadline of an operation, of its child tasks, and of the tasks that
/// it creates with `Task`, with a ``TaskOwner`` or with a queue, such as a ``FIFOQueue``. A detached task has no
/// deadline. If deadlines are nested, the earliest applies.
///
/// `Task.currentDeadline` is the deadline of the running task. Code that is about to start something expensive can
/// compare ``remaining`` with the time that it needs.
public struct Deadline: Sendable, CustomStringConvertible {
    /// The time of the deadline, as `continuousTime()` will return it then, if the clock is the `ContinuousClock`;
    /// otherwise zero. Stored as a `Duration`, because a `ContinuousClock.Instant`, whose layout is known only at run
    /// time, takes several times as many instructions to copy.
    private let time: Duration
    /// The instant of the deadline and its clock; `nil` if the clock is the `ContinuousClock`.
    private let other: (any InstantOfAnyClock)?

    /// An instant of the `ContinuousClock` and the value of `continuousTime()` at the same moment, which are used to
    /// convert instants to times. The pair never changes: equal instants have equal times.
    ///
    /// The pair is the closest of several pairs of readings, because the thread may be suspended between the two
    /// readings of a pair. The time is read after the instant, so that a converted deadline is never early.
    private static var origin: Origin { ProcessValues.value(of: Self.self, originOfProcess, make: readOrigin) }

    private struct Origin: Sendable {
        let instant: ContinuousClock.Instant
        let time: Duration
    }

    private static let originOfProcess = readOrigin()

    private static func readOrigin() -> Origin {
        let readings = (0..<8).map { _ in
            (before: continuousTime(), instant: ContinuousClock.now, after: continuousTime())
        }
        let closest = readings.min { $0.after - $0.before < $1.after - $1.before }!
        return Origin(instant: closest.instant, time: closest.after)
    }

    /// Creates a deadline at an instant of a clock.
    ///
    /// - Parameters:
    ///   - instant: The instant of the deadline.
    ///   - clock: The clock of the instant.
    public init<C: Clock>(_ instant: C.Instant, clock: C) where C.Duration == Duration {
        if let instant = instant as? ContinuousClock.Instant, clock is ContinuousClock {
            time = Self.origin.time + Self.origin.instant.duration(to: instant).bounded
            other = nil
        } else {
            time = .zero
            other = InstantOfClock(clock: clock, instant: instant)
        }
    }

    /// Creates a deadline that is a duration from now.
    ///
    /// - Parameters:
    ///   - duration: The time from now to the deadline. With zero or less, the deadline has already passed. A duration
    ///     of more than 100 years counts as 100 years.
    ///   - clock: The clock that measures the time.
    public init(in duration: Duration, clock: some Clock<Duration> = ContinuousClock()) {
        if clock is ContinuousClock {
            self.init(time: continuousTime() + duration.saturated)
        } else {
            self.init(clock.now.advanced(by: duration.saturated), clock: clock)
        }
    }

    private init(time: Duration) {
        self.time = time
        other = nil
    }

    /// The time from now until the deadline; negative after the deadline.
    public var remaining: Duration { other?.remaining ?? time - continuousTime() }

    /// Whether the deadline has been reached: ``remaining`` is zero or less.
    public var hasPassed: Bool { remaining <= .zero }

    /// Returns the earlier of two deadlines. Deadlines of different clocks are compared by the time that remains now.
    public static func earlier(_ one: Deadline, _ other: Deadline) -> Deadline { one.isBefore(other) ? one : other }

    /// The time until or since the deadline, as text such as "in 1.5 seconds" or "0.5 seconds ago".
    public var description: String {
        let remaining = remaining
        return remaining > .zero ? "in \(remaining)" : "\(Duration.zero - remaining) ago"
    }

    func isBefore(_ another: Deadline) -> Bool {
        if other == nil, another.other == nil { return time < another.time }
        return remaining < another.remaining
    }

    /// The clock that the deadline is measured with.
    var clock: any Clock<Duration> { other?.clock ?? ContinuousClock() }

    /// The deadline of a task in the form in which a task-local value stores it: a deadline that was set with
    /// `withDeadline`, the deadline of a flight (see ``SingleFlight``), or both. A class, so that the task-local value is
    /// one reference: see ``_Places``.
    final class Inherited: Sendable {
        /// The earliest deadline that was set around the current code with `withDeadline`, not counting those outside
        /// the flight that the task belongs to; `nil` if there is none.
        let fixed: Deadline?
        /// The deadline of the flight that the task belongs to, which can change when another caller joins; `nil` if
        /// the task belongs to no flight, or the flight began without a deadline.
        let latest: _LatestDeadline?

        init(fixed: Deadline?, latest: _LatestDeadline?) {
            self.fixed = fixed
            self.latest = latest
        }

        /// The earlier of the two deadlines, which applies now; `nil` if there is none.
        var current: Deadline? {
            guard let latest = latest?.current else { return fixed }
            return fixed.map { .earlier($0, latest) } ?? latest
        }

        /// Returns this value with `deadline` added: `fixed` is then the earlier of the two.
        func limited(by deadline: Deadline) -> Inherited {
            Inherited(fixed: fixed.map { .earlier($0, deadline) } ?? deadline, latest: latest)
        }
    }

    @TaskLocal static var local: Inherited?

    /// The deadline of the current task that applies now; `nil` if there is none.
    static var current: Deadline? { local?.current }
}

extension Task where Success == Never, Failure == Never {
    /// The deadline of the running task: the earliest of those that enclosing calls of ``withDeadline(_:operation:)``
    /// have set; `nil` if there is none, as in ``withoutDeadline(operation:)``.
    ///
    /// The deadline of a flight, which is one run of an operation for several callers (see ``SingleFlight``), depends
    /// on all of its callers, and can change when another caller joins: see ``withDeadline(_:operation:)``.
    ///
    /// - Complexity: O(1): one read of a task-local value.
    public static var currentDeadline: Deadline? { Deadline.current }
}

extension Deadline {
    /// The time before a deadline at which a caller that has an old result stops waiting for a new one, so that the caller
    /// receives the old result in time: a tenth of the time that remains now, and at most 50 ms.
    package var margin: Duration { max(.zero, min(remaining / 10, .milliseconds(50))) }

    /// Suspends until the time that remains until the deadline of the current task is not longer than `margin`. Measures
    /// the time with the clock of the deadline.
    ///
    /// - Returns: Whether the deadline is that near; `false` if the task has no deadline any more, because it is inside a
    ///   flight that a caller without a deadline has joined, or if the task is cancelled.
    package static func waitUntilNear(_ margin: Duration) async -> Bool {
        while let deadline = current {
            let time = deadline.remaining - margin
            if time <= .zero { return true }
            // A clock that can't sleep ends the wait at once.
            do { try await sleep(for: time, on: deadline.clock) } catch { return !Task.isCancelled }
        }
        return false
    }
}

/// An instant together with its clock. The protocol requires a class, because a reference is copied with few
/// instructions.
private protocol InstantOfAnyClock: AnyObject, Sendable {
    var remaining: Duration { get }
    var clock: any Clock<Duration> { get }
}

private final class InstantOfClock<C: Clock>: InstantOfAnyClock where C.Duration == Duration {
    private let source: C
    private let instant: C.Instant

    init(clock: C, instant: C.Instant) {
        source = clock
        self.instant = instant
    }

    var remaining: Duration { source.now.duration(to: instant).bounded }
    var clock: any Clock<Duration> { source }
}
