import Foundation

/// State behind a lock whose changes can be awaited, so that no example polls or guesses a time.
package final class Observed<State: Sendable>: Sendable {
    private let lock = NSLock()
    // Both only under the lock.
    nonisolated(unsafe) private var state: State
    nonisolated(unsafe) private var observers: [UUID: AsyncStream<Void>.Continuation] = [:]

    package init(_ state: State) { self.state = state }

    package var value: State { lock.withLock { state } }

    @discardableResult
    package func update<Result>(_ change: (inout State) -> Result) -> Result {
        let (result, told) = lock.withLock { (change(&state), Array(observers.values)) }
        for observer in told { observer.yield() }
        return result
    }

    /// A signal now, and one after each change; signals that have not been taken yet merge into one.
    ///
    /// Signals and not states: two threads may announce their changes in the wrong order, so code that receives a signal reads the state itself.
    package var changes: AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            _ = lock.withLock { observers.removeValue(forKey: id) }
        }
        lock.withLock { observers[id] = continuation }
        continuation.yield()
        return stream
    }

    /// Waits for as long as it takes.
    ///
    /// - Throws: `CancellationError`, if the caller is cancelled first.
    package func wait(until isReached: (State) -> Bool) async throws {
        for await _ in changes where isReached(value) { return }
        throw CancellationError()
    }

    /// Waits for what must come, and gives up when it is clear that it will not: an error that can be read beats a program that hangs.
    ///
    /// `event` completes the sentence "Waited in vain for …". The patience is longer than a machine may be busy with other things.
    package func expect(
        _ event: String,
        within patience: Duration = .seconds(60),
        _ isReached: @escaping @Sendable (State) -> Bool
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await self.wait(until: isReached) }
            group.addTask {
                try await Task.sleep(for: patience)
                throw WaitedInVain(description: "waited in vain for \(event); at the end: \(self.value)")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

/// The error of a wait for an event that has not happened.
package struct WaitedInVain: Error, CustomStringConvertible {
    package let description: String
}

/// A task with any value, for a script that only waits for its end.
package protocol Endable: Sendable {
    var isCancelled: Bool { get }
    func waitForEnd() async
}

extension Task: Endable where Failure == Never {
    package func waitForEnd() async { _ = await value }
}

extension Endable {
    /// Waits for the task to end, and gives up when it is clear that it will not. `value` can't: it waits even in a cancelled task.
    package func expectEnd(_ name: String) async throws {
        let hasEnded = Observed(false)
        Task<Void, Never> {
            await waitForEnd()
            hasEnded.update { $0 = true }
        }
        try await hasEnded.expect("\(name) to end") { $0 }
    }
}

extension Result where Failure == any Error {
    /// Returns the result or error of a function as a value.
    package nonisolated(nonsending) static func of(
        _ body: nonisolated(nonsending) () async throws -> Success
    ) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    package var failure: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}
