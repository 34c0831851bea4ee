internal import TaskControl

/// A clock without its type, as the time since a beginning: state machines know no other time.
///
/// Reading it calls the clock, which may be of the client: never while holding a lock.
struct Stopwatch: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let pause: @Sendable (Duration) async throws -> Void

    init(_ clock: some Clock<Duration>) {
        // The usual clock in its own type: a call through the protocol takes a multiple.
        if let clock = clock as? ContinuousClock { self.init(of: clock) } else { self.init(of: clock) }
    }

    @inline(__always)
    private init(of clock: some Clock<Duration>) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        pause = { try await clock.sleep(until: start.advanced(by: $0.saturated), tolerance: nil) }
    }

    /// The time since the beginning.
    var now: Duration { elapsed() }

    /// Suspends until a time since the beginning.
    ///
    /// - Throws: What the clock throws: `CancellationError` if the caller is cancelled.
    nonisolated(nonsending) func sleep(until time: Duration) async throws { try await pause(time) }
}
