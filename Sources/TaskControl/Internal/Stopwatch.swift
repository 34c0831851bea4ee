internal import CTaskControl

/// A clock without its type, as the time since a beginning: state machines know no other time.
///
/// Reading it calls the clock, which may be of the client: never while holding a lock.
package struct Stopwatch: Sendable {
    private enum Kind: Sendable {
        /// The usual clock, whose time is read without its types: calls through the protocol take several times as long.
        case continuous(begun: Int64)
        case other(elapsed: @Sendable () -> Duration)
    }

    private let kind: Kind
    private let pause: @Sendable (Duration) async throws -> Void

    package init(_ clock: some Clock<Duration>) {
        if let clock = clock as? ContinuousClock {
            kind = .continuous(begun: tc_continuousNanoseconds())
            pause = Self.pause(of: clock)
        } else {
            let start = clock.now
            kind = .other { start.duration(to: clock.now) }
            pause = Self.pause(of: clock)
        }
    }

    private static func pause(of clock: some Clock<Duration>) -> @Sendable (Duration) async throws -> Void {
        let start = clock.now
        return { try await clock.sleep(until: start.advanced(by: $0.saturated), tolerance: nil) }
    }

    /// The time since the beginning.
    package var now: Duration {
        var reading = ClockReading()
        return now(&reading)
    }

    /// The time since the beginning, by a reading that several stopwatches of the usual clock share.
    package func now(_ reading: inout ClockReading) -> Duration {
        switch kind {
        case .continuous(let begun): .nanoseconds(reading.nanoseconds - begun)
        case .other(let elapsed): elapsed()
        }
    }

    /// The time since the beginning in whole nanoseconds: `now.wholeNanoseconds`, without arithmetic in 128 bits if the clock is the usual one.
    package var nanoseconds: Int64 {
        switch kind {
        case .continuous(let begun): tc_continuousNanoseconds() - begun
        case .other(let elapsed): elapsed().wholeNanoseconds
        }
    }

    /// Suspends until a time since the beginning.
    ///
    /// - Throws: The error of the clock: `CancellationError` if the caller is cancelled.
    package nonisolated(nonsending) func sleep(until time: Duration) async throws { try await pause(time) }
}

/// One reading of the continuous clock, which is made when a stopwatch needs it first: a call under several policies reads the clock once.
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
