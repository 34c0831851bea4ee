internal import TaskControl

/// A wrapper for a clock of any type: measures the time since the wrapper was created, and sleeps.
struct Timeline: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    init(_ clock: some Clock<Duration>) {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
    }

    var now: Duration { elapsed() }

    func sleep(until moment: Duration) async throws { try await sleep(moment) }

    /// Sleeps for a duration; returns at once if it is zero or less. If the caller is cancelled, this function throws
    /// `CancellationError`, regardless of the error that the clock throws. Otherwise it rethrows the error of the
    /// clock.
    func pause(for duration: Duration) async throws {
        do {
            if duration > .zero { try await sleep(now + duration.saturated) }
        } catch {
            try Task.checkCancellation()
            throw error
        }
        try Task.checkCancellation()
    }
}
