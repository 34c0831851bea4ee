internal import CTaskControl

/// A clock of any type, from which the time since the creation of the stopwatch is read. The state machines of this
/// library receive all times as such durations.
///
/// Reading a stopwatch calls its clock, which may be code of the client, so a stopwatch must not be read while holding
/// a lock.
@usableFromInline
package struct Stopwatch: Sendable {
    @usableFromInline
    enum Kind: Sendable {
        /// The `ContinuousClock`, read by a function of this library, since calls through the `Clock` protocol take
        /// several times as long. The value is its reading in nanoseconds when the stopwatch was created.
        case continuous(begun: Int64)
        /// A clock of another type: returns the time since the stopwatch was created, and sleeps until such a time.
        case other(elapsed: @Sendable () -> Duration, sleep: @Sendable (Duration) async throws -> Void)
    }

    @usableFromInline let kind: Kind

    @usableFromInline
    package init(_ clock: some Clock<Duration>) {
        if clock is ContinuousClock {
            kind = .continuous(begun: tc_continuousNanoseconds())
        } else {
            let start = clock.now
            kind = .other(
                elapsed: { start.duration(to: clock.now) },
                sleep: { try await clock.sleep(until: start.advanced(by: $0.saturated), tolerance: nil) }
            )
        }
    }

    /// The time since the stopwatch was created.
    package var now: Duration {
        var reading = ClockReading()
        return now(&reading)
    }

    /// Returns the time since the stopwatch was created.
    ///
    /// - Parameter reading: A reading of the `ContinuousClock`. If several calls share it, the clock is read only once
    ///   for all of their stopwatches.
    package func now(_ reading: inout ClockReading) -> Duration {
        switch kind {
        case .continuous(let begun): .nanoseconds(reading.nanoseconds - begun)
        case .other(let elapsed, _): elapsed()
        }
    }

    /// The time since the stopwatch was created, in whole nanoseconds. Equal to `now.wholeNanoseconds`, but computed
    /// without 128-bit arithmetic if the clock is the `ContinuousClock`.
    @export(implementation)
    package var nanoseconds: Int64 {
        switch kind {
        case .continuous(let begun): Self.continuousNanoseconds - begun
        case .other(let elapsed, _): elapsed().wholeNanoseconds
        }
    }

    @usableFromInline static var continuousNanoseconds: Int64 { tc_continuousNanoseconds() }

    /// Suspends until a time, counted from the creation of the stopwatch. A time of more than 100 years counts as 100
    /// years.
    ///
    /// - Throws: The error of the clock: `CancellationError` if the current task is cancelled, or another error if the
    ///   clock cannot sleep.
    @usableFromInline
    package nonisolated(nonsending) func sleep(until time: Duration) async throws {
        switch kind {
        case .continuous: try await sleepOnContinuousClock(for: time.saturated - now)
        case .other(_, let sleep): try await sleep(time)
        }
    }
}

/// A time limit, measured from the creation of a stopwatch.
@usableFromInline
package struct StopwatchLimit: Sendable {
    @usableFromInline let duration: Duration
    @usableFromInline let stopwatch: Stopwatch

    @usableFromInline
    package init(_ duration: Duration, of stopwatch: Stopwatch) {
        self.duration = duration
        self.stopwatch = stopwatch
    }

    /// Whether the limit has passed: work that ends at the limit is late. Reads the clock.
    @usableFromInline package var hasPassed: Bool { stopwatch.now >= duration }
}

/// Suspends for a duration. A duration of more than 100 years counts as 100 years.
///
/// - Throws: The error of the clock: `CancellationError` if the current task is cancelled, or another error if the clock
///   cannot sleep.
package nonisolated(nonsending) func sleep(for duration: Duration, on clock: some Clock<Duration>) async throws {
    if clock is ContinuousClock {
        try await sleepOnContinuousClock(for: duration.saturated)
    } else {
        try await clock.sleep(until: clock.now.advanced(by: duration.saturated), tolerance: nil)
    }
}

/// The only sleep on the `ContinuousClock` in this package.
///
/// Neither generic nor inlinable, and not optimized, so that neither a module of a client nor an optimized function of
/// this module contains the body of the clock's sleep: programs that Swift 6.3 has compiled with optimization abort on
/// several Apple systems when such a sleep is cancelled ("freed pointer was not the last allocation").
@inline(never)
@_optimize(none)
private nonisolated(nonsending) func sleepOnContinuousClock(for duration: Duration) async throws {
    let clock = ContinuousClock()
    try await clock.sleep(until: clock.now.advanced(by: duration), tolerance: nil)
}

/// One reading of the `ContinuousClock`, made when the first stopwatch needs it, so that code that uses several
/// stopwatches reads the clock once.
package struct ClockReading: Sendable {
    private var read: Int64?

    package init() {}

    fileprivate var nanoseconds: Int64 {
        mutating get {
            if let read { return read }
            let now = tc_continuousNanoseconds()
            read = now
            return now
        }
    }
}
