internal import TaskControl

/// A clock without its type, as the time since a beginning: state machines know no other time.
///
/// Reading it calls the clock, which may be of the client: never while holding a lock.
struct Stopwatch: Sendable {
    private enum Kind: Sendable {
        /// The usual clock in its own type: a call through the protocol takes a multiple.
        case continuous(begun: Duration)
        case other(elapsed: @Sendable () -> Duration)
    }

    private let kind: Kind
    private let pause: @Sendable (Duration) async throws -> Void

    init(_ clock: some Clock<Duration>) {
        if let clock = clock as? ContinuousClock {
            kind = .continuous(begun: continuousTime())
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
    var now: Duration {
        var reading = ClockReading()
        return now(&reading)
    }

    /// The time since the beginning, which all that share a reading of the usual clock have in common.
    func now(_ reading: inout ClockReading) -> Duration {
        switch kind {
        case .continuous(let begun): reading.time - begun
        case .other(let elapsed): elapsed()
        }
    }

    /// Suspends until a time since the beginning.
    ///
    /// - Throws: What the clock throws: `CancellationError` if the caller is cancelled.
    nonisolated(nonsending) func sleep(until time: Duration) async throws { try await pause(time) }
}

/// One reading of the continuous clock, which is made when somebody asks for it first: a call under several policies reads the clock once.
struct ClockReading: Sendable {
    private var read: Duration?

    fileprivate var time: Duration {
        mutating get {
            if let read { return read }
            let now = continuousTime()
            read = now
            return now
        }
    }
}
