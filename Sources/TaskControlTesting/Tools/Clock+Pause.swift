extension Clock<Duration> {
    /// Sleeps, if there is anything to sleep. A caller that is cancelled hears of that and of nothing else, whatever the
    /// clock does about it.
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
