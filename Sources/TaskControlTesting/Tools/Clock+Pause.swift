internal import TaskControl

extension Clock<Duration> {
    /// Sleeps for a duration; returns at once if it is zero or less. If the caller is cancelled, this function throws
    /// `CancellationError`, regardless of the error that the clock throws. Otherwise it rethrows the error of the
    /// clock.
    func pause(for duration: Duration) async throws {
        do {
            if duration > .zero { try await TaskControl.sleep(for: duration, on: self) }
        } catch {
            try Task.checkCancellation()
            throw error
        }
        try Task.checkCancellation()
    }
}
