extension Clock<Duration> {
    /// Sleeps, if the time is not over. A cancelled caller receives `CancellationError` and no other error, whatever the
    /// clock throws.
    func pause(for duration: Duration) async throws {
        do {
            if duration > .zero { try await sleep(for: duration) }
        } catch {
            try Task.checkCancellation()
            throw error
        }
        try Task.checkCancellation()
    }
}
