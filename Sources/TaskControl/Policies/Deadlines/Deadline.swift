/// A point in time by which the work of a call must have ended, including the work of all calls that it makes.
///
/// ```swift
/// try await withDeadline(in: .seconds(2)) {
///     let user = try await fetchUser()                        // has 2 seconds
///     let feed = try await retry { try await fetchFeed(user) }   // has the remaining time, and makes no attempt that would begin later
/// }
/// ```
///
/// A time limit belongs to one call; a deadline is inherited. ``withDeadline(in:clock:operation:)`` sets it for an operation, the child tasks of
/// the operation, and the tasks that it creates with `Task`, an owner or a queue. A detached task has none. The earlier of two deadlines counts.
///
/// `Task.currentDeadline` is the deadline of the running task. Code that is about to start something expensive can compare ``remaining`` with
/// the time that it needs.
public struct Deadline: Sendable, CustomStringConvertible {
    /// The `continuousTime()` of the deadline, if its clock is the `ContinuousClock`. Not a `ContinuousClock.Instant`, which takes several times as
    /// many instructions to copy, because its layout is known only at run time.
    private let time: Duration
    /// The instant of the deadline, if its clock is another one; `nil` if the clock is the `ContinuousClock`.
    private let other: (any InstantOfAnyClock)?

    /// An instant of the `ContinuousClock` and the `continuousTime()` of the same moment, which convert instants to times. Constant, so that equal
    /// instants have equal times.
    ///
    /// The closest of several pairs of readings, since the thread may be suspended between the two readings of a pair. The time is read after the
    /// instant, so no deadline is early.
    private static let origin: (instant: ContinuousClock.Instant, time: Duration) = {
        let readings = (0..<8).map { _ in
            (before: continuousTime(), instant: ContinuousClock.now, after: continuousTime())
        }
        let closest = readings.min { $0.after - $0.before < $1.after - $1.before }!
        return (closest.instant, closest.after)
    }()

    /// Creates a deadline at an instant of a clock.
    ///
    /// - Parameters:
    ///   - instant: The instant of the deadline.
    ///   - clock: The clock of the instant.
    public init<C: Clock>(_ instant: C.Instant, clock: C) where C.Duration == Duration {
        if let instant = instant as? ContinuousClock.Instant, clock is ContinuousClock {
            time = Self.origin.time + Self.origin.instant.duration(to: instant)
            other = nil
        } else {
            time = .zero
            other = InstantOfClock(clock: clock, instant: instant)
        }
    }

    /// Creates a deadline after a duration.
    ///
    /// - Parameters:
    ///   - duration: The duration from now on. A duration of more than 100 years counts as 100 years.
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

    /// The time until the deadline; negative after it.
    public var remaining: Duration { other?.remaining ?? time - continuousTime() }

    /// Whether the deadline is not in the future.
    public var hasPassed: Bool { remaining <= .zero }

    /// Returns the earlier of two deadlines.
    ///
    /// Instants of different clocks are compared by the time that remains now.
    public static func earlier(_ one: Deadline, _ other: Deadline) -> Deadline { one.isBefore(other) ? one : other }

    /// The time that remains, as text such as "in 1.5 seconds".
    public var description: String {
        let remaining = remaining
        return remaining > .zero ? "in \(remaining)" : "\(Duration.zero - remaining) ago"
    }

    func isBefore(_ another: Deadline) -> Bool {
        if other == nil, another.other == nil { return time < another.time }
        return remaining < another.remaining
    }

    /// The clock that measures the time.
    var clock: any Clock<Duration> { other?.clock ?? ContinuousClock() }

    /// The deadline that is stored in the task-local value of a task.
    struct Inherited: Sendable {
        /// The earliest deadline that was set around the task, inside the flight that the task belongs to; `nil` if there is none.
        let fixed: Deadline?
        /// The deadline of that flight, which can change when another caller joins; `nil` if there is no flight, or the flight has no deadline.
        let latest: _LatestDeadline?

        /// The deadline that applies now; `nil` if there is none.
        var current: Deadline? {
            guard let latest = latest?.current else { return fixed }
            return fixed.map { .earlier($0, latest) } ?? latest
        }

        /// Returns the value that an operation with a deadline of its own inherits.
        func limited(by deadline: Deadline) -> Inherited {
            Inherited(fixed: fixed.map { .earlier($0, deadline) } ?? deadline, latest: latest)
        }
    }

    @TaskLocal static var local: Inherited?

    /// The deadline of the current task that applies now; `nil` if there is none.
    static var current: Deadline? { local?.current }
}

extension Task where Success == Never, Failure == Never {
    /// The deadline of the running task: the earliest that was set around it; `nil` if there is none.
    ///
    /// In a flight, the deadline is the latest deadline of the callers; `nil` if a caller has none. It can change when another caller joins.
    ///
    /// - Complexity: O(1): one read of a task-local value.
    public static var currentDeadline: Deadline? { Deadline.current }
}

/// An instant together with its clock, which computes the remaining time. An object, so that a deadline is copied with few instructions.
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

    var remaining: Duration { source.now.duration(to: instant) }
    var clock: any Clock<Duration> { source }
}
