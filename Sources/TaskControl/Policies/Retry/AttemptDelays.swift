/// The delays of `retry` that a shutdown can end: those of a second or more. Without a delay, an outbox that is offline would
/// hold up a shutdown that cancels what waits until the end of its grace period.
///
/// The delay of such a call is the sleep of a child task, so that it can be cancelled without the task of the call. A child
/// task costs about a microsecond: shorter delays are waited for.
enum AttemptDelays {
    private struct Delay: Sendable {
        /// The task that has called `retry`.
        let caller: TaskAddress
        /// The child task that sleeps.
        let sleeper: _TaskHandle
    }

    private static let delays = Locked<[UInt64: Delay]>([:])

    private static var shortest: Duration { .seconds(1) }

    /// Waits for a delay between two attempts, or until the attempts of the current task have ended.
    ///
    /// - Throws: The error of the clock: `CancellationError` if the current task is cancelled, or another error if the clock
    ///   cannot sleep.
    nonisolated(nonsending) static func wait(for delay: Duration, on clock: some Clock<Duration>) async throws {
        if delay < shortest { return try await TaskControl.sleep(for: delay, on: clock) }
        let caller = TaskAddress.running
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await sleep(for: delay, on: clock, of: caller) }
                try await group.next()
            }
        } catch {
            if !CancellationCauses.hasEndedAttempts(caller) { throw error }
        }
    }

    private static func sleep(for delay: Duration, on clock: some Clock<Duration>, of caller: TaskAddress) async throws
    {
        guard let sleeper = _TaskHandle.running else { return }
        let number = Diagnostics.nextNumber()
        delays.withLock { $0[number] = Delay(caller: caller, sleeper: sleeper) }
        defer {
            delays.withLock {
                $0[number] = nil
                $0.shrinkIfMostlyEmpty()
            }
        }
        // `end` may not have seen this delay.
        if CancellationCauses.hasEndedAttempts(caller) { return }
        do {
            try await TaskControl.sleep(for: delay, on: clock)
        } catch {
            try Task.checkCancellation()
            throw error
        }
        // Also if the clock ignores the cancellation.
        try Task.checkCancellation()
    }

    /// Ends the delays of the tasks whose attempts have ended: see `CancellationCauses.endAttempts(of:)`. Called without a
    /// lock.
    ///
    /// - Complexity: O(*n*) in the number of delays.
    static func end() {
        // The callers have not ended, since their child tasks are registered.
        let ended = delays.withLock { delays in
            delays.values.filter { CancellationCauses.hasEndedAttempts($0.caller) }
        }
        for delay in ended { delay.sleeper.cancel() }
    }
}
