extension Sequence where Element: Sendable {
    /// Returns the results of calling an operation for each element, for several elements at the same time.
    ///
    /// ```swift
    /// let pages = try await urls.concurrentMap(limit: 8) { url in
    ///     try await server.fetch(url)
    /// }
    /// ```
    ///
    /// At most `limit` operations run at the same time. The next element is taken from the sequence when an operation has ended, so a lazy sequence
    /// is never ahead of the work. All operations have ended when this returns or throws.
    ///
    /// To consume the results one at a time, in memory that is bounded by the limit, use ``concurrentMap(limit:order:_:forEach:)``.
    ///
    /// ## Cancellation
    /// A cancelled caller cancels the operations that run, begins no other, and waits for their end. It receives
    /// `CancellationError`, or the array if the iterator of the sequence had returned `nil` before and no operation
    /// fails. If `Failure` is neither `any Error` nor `CancellationError`, the call cannot throw `CancellationError`:
    /// the operations of all elements then begin in spite of the cancellation, each in a cancelled task.
    ///
    /// ## Errors
    /// The first operation that throws cancels the others, whose tasks have the cause "another operation has failed".
    /// Its error is thrown when all operations have ended. All results, and the errors of the other operations, are
    /// discarded.
    ///
    /// ## Ordering
    /// The operations begin in the order of the sequence.
    ///
    /// - Parameters:
    ///   - limit: The number of operations that run at the same time. Less than 1 counts as 1.
    ///   - order: The order of the results. By default that of the elements.
    ///   - operation: Runs in a child task, not in the caller's isolation. The task has the caller's name, priority and task-local values. It runs
    ///     other operations afterwards, unless it was cancelled.
    /// - Returns: One result per element.
    /// - Throws: The first error of an operation; `CancellationError` if the caller is cancelled.
    /// - Complexity: O(*n*) in the number of elements, and at most `limit` child tasks at a time.
    @inlinable
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
    /// At most `limit` operations run at the same time. The next element is taken from the sequence when an operation has ended, so a lazy sequence
    /// is never ahead of the work. All operations have ended when this returns or throws.
    ///
    /// ## Cancellation
    /// A cancelled caller cancels the operations that run, begins no other, and waits for their end. It receives
    /// `CancellationError`, unless the iterator of the sequence had returned `nil` before and no operation fails. If
    /// `Failure` is neither `any Error` nor `CancellationError`, the call cannot throw `CancellationError`: the
    /// operations of all elements then begin in spite of the cancellation, each in a cancelled task.
    ///
    /// ## Errors
    /// The first operation that throws cancels the others, whose tasks have the cause "another operation has failed".
    /// Its error is thrown when all operations have ended. The errors of the other operations are discarded.
    ///
    /// ## Ordering
    /// The operations begin in the order of the sequence, and end in any order.
    ///
    /// - Parameters:
    ///   - limit: The number of operations that run at the same time. Less than 1 counts as 1.
    ///   - operation: Runs in a child task, not in the caller's isolation. The task has the caller's name, priority and task-local values. It runs
    ///     other operations afterwards, unless it was cancelled.
    /// - Throws: The first error of an operation; `CancellationError` if the caller is cancelled.
    /// - Complexity: O(*n*) in the number of elements, and at most `limit` child tasks at a time. Memory: O(`limit`).
    @inlinable
    public nonisolated(nonsending) func concurrentForEach<Failure: Error>(
        limit: Int,
        _ operation: @concurrent @Sendable (Element) async throws(Failure) -> Void
    ) async throws(Failure) {
        try await _FanOut.run(isolation: #isolation, self, limit: limit, operation) { _, _ in }
    }
}
