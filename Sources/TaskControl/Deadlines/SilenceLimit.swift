/// A limit on the time for which a reader waits for one element of a sequence.
///
/// The time is measured from the moment at which the reader is ready for an element, so the handling of an element does
/// not count. One task watches all waits of the reader: an element costs two readings of the clock, and no task.
///
/// Iterate the sequence that `limiting(_:)` returns inside the operation of `run(_:)`.
package struct SilenceLimit: Sendable {
    private struct Books {
        var machine: SilenceStateMachine
        /// The task that runs the operation; `nil` before it begins and after it has ended.
        var reader: Word?
    }

    private let duration: Duration
    private let stopwatch: Stopwatch
    private let books: Locked<Books>

    /// Creates a limit for one call of `run(_:)`.
    package init(_ duration: Duration, clock: some Clock<Duration>) {
        self.duration = duration
        stopwatch = Stopwatch(clock)
        books = Locked(Books(machine: SilenceStateMachine(duration)))
    }

    /// Runs an operation that reads a sequence with this limit, and always has ended when this function returns.
    ///
    /// ## Cancellation
    /// A caller that is cancelled cancels the operation, and waits for its end. At the limit, the operation is cancelled
    /// with the cause ``CancellationCause/deadline``, and awaited.
    ///
    /// - Parameter operation: Runs in a child task that has the caller's task name.
    /// - Returns: The value of the operation.
    /// - Throws: ``TimeoutError`` if a wait has lasted for the limit; the error of the operation; the error of the clock,
    ///   if the clock cannot sleep.
    package func run<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let (caller, name) = (TaskAddress.running, Diagnostics.currentTaskName)
        let result = await withTaskGroup(of: Result<Value, any Error>?.self) { group in
            group.addTask(name: name) { await read(operation, caller) }
            group.addTask { await watch().map { .failure($0) } }
            var result: Result<Value, any Error>?
            for await end in group {
                result = result ?? end
                // When the reader has ended, the sleep of the watch; after an error of the clock, the reader.
                if result != nil { group.cancelAll() }
            }
            return result
        }
        if books.withLock(\.machine.isSilent) {
            // A cancelled caller receives CancellationError, regardless of the error of the operation.
            try Task.checkCancellation()
            throw TimeoutError(duration: duration)
        }
        guard let result else { preconditionFailure("The operation has ended.") }
        return try result.get()
    }

    /// Returns a sequence of the same elements, whose iterator reports its waits to this limit. It is iterated once.
    package func limiting<Elements: AsyncSequence>(_ elements: Elements) -> Limited<Elements> {
        Limited(iterator: elements.makeAsyncIterator(), limit: self)
    }

    /// The elements of a sequence, up to the first one for which the limit has passed.
    package struct Limited<Elements: AsyncSequence>: AsyncSequence, AsyncIteratorProtocol {
        fileprivate var iterator: Elements.AsyncIterator
        fileprivate let limit: SilenceLimit

        package func makeAsyncIterator() -> Self { self }

        @concurrent package mutating func next() async throws -> Elements.Element? {
            limit.beginWait()
            let result: Result<Elements.Element?, any Error>
            do { result = .success(try await iterator.next()) } catch { result = .failure(error) }
            try limit.endWait()
            return try result.get()
        }
    }

    /// Records that the reader, inside the operation of `run(_:)`, begins to wait for an element.
    package func beginWait() {
        let now = stopwatch.now
        books.withLock { $0.machine.wait(at: now) }?.resume(returning: .reached)
    }

    /// Records that the wait has ended, with an element, an error, or the end of the sequence.
    ///
    /// - Throws: ``TimeoutError`` if the wait has lasted for the limit.
    package func endWait() throws {
        let now = stopwatch.now
        guard books.withLock({ $0.machine.receive(at: now) }) else { throw TimeoutError(duration: duration) }
    }

    // MARK: The reader

    private func read<Value: Sendable>(
        _ operation: @Sendable () async throws -> Value,
        _ caller: TaskAddress
    ) async -> Result<Value, any Error> {
        let task = RunningTask.current
        CancellationCauses.link(.running, to: caller)
        books.withLock { $0.reader = task?.word }
        let result: Result<Value, any Error>
        do { result = .success(try await operation()) } catch { result = .failure(error) }
        let watch = books.withLock { books in
            books.reader = nil
            return books.machine.end()
        }
        CancellationCauses.forget(.running)
        watch?.resume(returning: .ended)
        return result
    }

    /// Cancels the reader when it has waited for the limit, and returns when it has ended.
    ///
    /// - Returns: The error of the clock, if the clock cannot sleep.
    private func watch() async -> (any Error)? {
        // A clock that ends a sleep too early must not make this loop spin.
        var floor = Duration.zero
        while true {
            let now = max(floor, stopwatch.now)
            switch books.withLock({ $0.machine.step(at: now) }) {
            case .end: return nil
            case .cancel: cancelReader()
            case .park:
                _ = await suspend { waiter in
                    books.withLock { $0.machine.park(Word(waiter)) } ? nil : WaitOutcome.reached
                }
            case .sleep(let time):
                do {
                    try await stopwatch.sleep(until: time)
                    floor = time
                } catch {
                    // If this task is cancelled, the reader has ended, or it is cancelled, too.
                    return Task.isCancelled ? nil : error
                }
            }
        }
    }

    private func cancelReader() {
        let task = books.withLock { books in
            // Retained under the lock, and its cause recorded: the task has not ended, because its end needs the lock first.
            let task = books.reader?.task
            if let task { CancellationCauses.record(.known(.deadline), for: task.address) }
            return task
        }
        task?.cancel()
    }
}
