extension Sequence where Element: Sendable {
    /// Returns the results of calling an operation for each element, for several elements at the same time.
    ///
    /// ```swift
    /// let pages = try await urls.concurrentMap(limit: 8) { url in
    ///     try await server.fetch(url)
    /// }
    /// ```
    ///
    /// At most `limit` operations run at the same time. An element is taken from the sequence only when its operation
    /// can begin, so a lazy sequence computes no element too early. All operations have ended when this function
    /// returns or throws.
    ///
    /// To consume the results one at a time, with memory for at most `limit` results, use
    /// ``concurrentMap(limit:order:_:forEach:)``.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, the call begins no further operation, cancels the running operations, and waits for
    /// their end. It then throws `CancellationError`, even if an operation has thrown another error. There are two
    /// exceptions:
    ///
    /// - If the iterator of the sequence had already returned `nil` and all operations had begun before the
    ///   cancellation, the running operations are cancelled too, but the call returns the array if no operation throws.
    /// - If `Failure`, the type of the error that `operation` can throw, is neither `any Error` nor
    ///   `CancellationError`, the call cannot throw `CancellationError`. In spite of the cancellation, the operations
    ///   of all elements then begin, in cancelled tasks, until one of them throws. The call returns the array or throws
    ///   the first error.
    ///
    /// ## Errors
    /// The first operation that throws cancels the others, in which `Task.cancellationCause` is then
    /// `CancellationCause.requested(reason:)` with the reason "another operation has failed". The first error is thrown
    /// when all operations have ended. All results, and the errors of the other operations, are discarded.
    ///
    /// ## Ordering
    /// The operations begin in the order of the sequence.
    ///
    /// - Parameters:
    ///   - limit: The number of operations that run at the same time. Less than 1 counts as 1.
    ///   - order: The order of the results. By default that of the elements.
    ///   - operation: Runs in a child task, not in the caller's isolation. The task has the caller's name, priority and
    ///     task-local values. One child task can run several operations, one after the other. If an operation cancels
    ///     its own task, later operations run in other tasks.
    /// - Returns: One result per element, in the given order.
    /// - Throws: `CancellationError` if the caller is cancelled, except in the cases that Cancellation describes;
    ///   otherwise the first error of an operation.
    /// - Complexity: O(*n*) in the number of elements, and at most `limit` child tasks at a time.
    @export(implementation)
    public nonisolated(nonsending) func concurrentMap<Output: Sendable, Failure: Error>(
        limit: Int,
        order: FanOutOrder = .source,
        _ operation: @concurrent @Sendable (Element) async throws(Failure) -> Output
    ) async throws(Failure) -> [Output] {
        switch order {
        case .completion:
            var outputs: [Output] = []
            outputs.reserveCapacity(Swift.min(underestimatedCount, _FanOut.mostReserved))
            try await _FanOut.run(isolation: #isolation, self, limit: limit, operation) { outputs.append($1) }
            return outputs
        case .source:
            var outputs: [Output?] = []
            outputs.reserveCapacity(Swift.min(underestimatedCount, _FanOut.mostReserved))
            try await _FanOut.run(isolation: #isolation, self, limit: limit, operation) { number, output in
                while outputs.count <= number { outputs.append(nil) }
                outputs[number] = output
            }
            // Each operation has returned its output, since none has failed.
            return outputs.map { $0! }
        }
    }

    /// Calls an operation for each element, for several elements at the same time.
    ///
    /// ```swift
    /// try await files.concurrentForEach(limit: 4) { file in
    ///     try await server.upload(file)
    /// }
    /// ```
    ///
    /// At most `limit` operations run at the same time. An element is taken from the sequence only when its operation
    /// can begin, so a lazy sequence computes no element too early. All operations have ended when this function
    /// returns or throws.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, the call begins no further operation, cancels the running operations, and waits for
    /// their end. It then throws `CancellationError`, even if an operation has thrown another error. There are two
    /// exceptions:
    ///
    /// - If the iterator of the sequence had already returned `nil` and all operations had begun before the
    ///   cancellation, the call returns normally if no operation throws.
    /// - If `Failure`, the type of the error that `operation` can throw, is neither `any Error` nor
    ///   `CancellationError`, the call cannot throw `CancellationError`. In spite of the cancellation, the operations
    ///   of all elements then begin, in cancelled tasks, until one of them throws. The call returns normally or throws
    ///   the first error.
    ///
    /// ## Errors
    /// The first operation that throws cancels the others, in which `Task.cancellationCause` is then
    /// `CancellationCause.requested(reason:)` with the reason "another operation has failed". The first error is thrown
    /// when all operations have ended. The errors of the other operations are discarded.
    ///
    /// ## Ordering
    /// The operations begin in the order of the sequence, and end in any order.
    ///
    /// - Parameters:
    ///   - limit: The number of operations that run at the same time. Less than 1 counts as 1.
    ///   - operation: Runs in a child task, not in the caller's isolation. The task has the caller's name, priority and
    ///     task-local values. One child task can run several operations, one after the other. If an operation cancels
    ///     its own task, later operations run in other tasks.
    /// - Throws: `CancellationError` if the caller is cancelled, except in the cases that Cancellation describes;
    ///   otherwise the first error of an operation.
    /// - Complexity: O(*n*) in the number of elements, and at most `limit` child tasks at a time. Memory: O(`limit`).
    @export(implementation)
    public nonisolated(nonsending) func concurrentForEach<Failure: Error>(
        limit: Int,
        _ operation: @concurrent @Sendable (Element) async throws(Failure) -> Void
    ) async throws(Failure) {
        try await _FanOut.run(isolation: #isolation, self, limit: limit, operation) { _, _ in }
    }
}
