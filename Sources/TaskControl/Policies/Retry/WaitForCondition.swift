/// Waits for a delay that a condition can end early, and after it for the condition.
///
/// - Parameters:
///   - reports: The reports of the condition: see ``ConditionStateMachine``. The stream is no longer read when this function
///     has returned.
///   - delay: The delay.
///   - limit: The time after which the wait ends, counted like `delay` and not shorter; `nil` for no limit.
///   - clock: Measures the times.
/// - Returns: `false` if the condition has held up the attempt until the limit.
/// - Throws: The error of the clock: `CancellationError` if the caller is cancelled, or another error if it cannot sleep.
func waitForCondition(
    _ reports: AsyncStream<Bool>,
    delay: Duration,
    limit: Duration?,
    on clock: some Clock<Duration>
) async throws -> Bool {
    let books = Locked((condition: ConditionStateMachine(), isOver: false))
    return try await withThrowingTaskGroup(of: Bool?.self) { group in
        group.addTask {
            for await isMet in reports {
                let begins = books.withLock { $0.condition.report(isMet) || $0.isOver && !$0.condition.isHolding }
                if begins { return true }
            }
            return books.withLock { books in
                _ = books.condition.report(nil)
                return books.isOver ? true : nil
            }
        }
        group.addTask {
            if delay > .zero { try await sleep(for: delay, on: clock) }
            let isHeld = books.withLock { books in
                books.isOver = true
                return books.condition.isHolding
            }
            guard isHeld, let limit else { return isHeld ? nil : true }
            try await sleep(for: limit - delay, on: clock)
            return false
        }
        defer { group.cancelAll() }
        while let begins = try await group.next() {
            if let begins { return begins }
        }
        return true
    }
}
