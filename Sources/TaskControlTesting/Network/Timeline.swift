internal import TaskControl

/// A wrapper for a clock of any type: measures the time since the wrapper was created, and sleeps.
struct Timeline: Sendable {
    private let stopwatch: Stopwatch

    init(_ clock: some Clock<Duration>) { stopwatch = Stopwatch(clock) }

    var now: Duration { stopwatch.now }

    func sleep(until moment: Duration) async throws { try await stopwatch.sleep(until: moment) }

    /// Sleeps for a duration; returns at once if it is zero or less. If the caller is cancelled, this function throws
    /// `CancellationError`, regardless of the error that the clock throws. Otherwise it rethrows the error of the
    /// clock.
    func pause(for duration: Duration) async throws {
        do {
            if duration > .zero { try await sleep(until: now + duration.saturated) }
        } catch {
            try Task.checkCancellation()
            throw error
        }
        try Task.checkCancellation()
    }
}
