internal import TaskControlTesting

/// Counts the turns of a loop on the main actor, and those before another task of the main actor, which was created at the first turn, has run.
@MainActor package final class LoopTurns {
    private let turns = OrderRecorder<Void>()
    private var seen: Int?
    private var other: Task<Void, Never>?

    package init() {}

    /// The number of turns.
    package var count: Int { turns.count }

    /// Counts a turn.
    package func next() {
        if other == nil { other = Task { @MainActor in self.seen = self.count } }
        turns.record(())
    }

    /// Waits until the loop has made a number of turns.
    package func wait(for count: Int) async throws { try await turns.waitForEvents(count: count) }

    /// Waits until the other task has run, and returns the number of turns before it; `nil` if there was no turn.
    package func beforeAnotherTask() async -> Int? {
        await other?.value
        return seen
    }
}
