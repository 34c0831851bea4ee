extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Creates an asynchronous sequence of the results of calling an operation for each element, for several elements
    /// at the same time.
    ///
    /// ```swift
    /// for try await page in links.concurrentMap(limit: 8, { url in try await server.fetch(url) }) {
    ///     show(page)
    /// }
    /// ```
    ///
    /// The work begins with the first call of the iterator's `next()`, and continues while the body of the loop runs.
    /// There are `limit` places: an operation takes a place when it begins, and frees the place when the loop takes its
    /// result. So memory is bounded, even if the loop is slow, or if results wait for the result of an earlier, slower
    /// operation. The next element is requested from this sequence, the source, only when a place is free.
    ///
    /// ## Cancellation
    /// The iterator owns the work. A loop that is left early releases the iterator: the work is cancelled, and nothing
    /// waits for its end. `Task.cancellationCause` in the operations is then
    /// `CancellationCause.ownerDeallocated(name:)`. If the task that calls `next()` is cancelled, `next()` cancels the
    /// work, waits for its end, and throws `CancellationError`. ``concurrentMap(limit:order:_:forEach:)`` waits for the
    /// end of all work in every case.
    ///
    /// ## Errors
    /// The first error, of an operation or of the source, cancels the source and the other operations, in which
    /// `Task.cancellationCause` is then `CancellationCause.requested(reason:)` with the reason "another operation has
    /// failed". When all of them have ended, `next()` throws the error, or `CancellationError` if the task that calls
    /// `next()` is cancelled. Results that were not taken are discarded.
    ///
    /// ## Ordering
    /// The operations begin in the order of the source.
    ///
    /// - Parameters:
    ///   - limit: The number of places: the largest number of running operations and results that were not taken,
    ///     together. Less than 1 counts as 1.
    ///   - order: The order of the results. By default that of the source.
    ///   - operation: Runs in a child task of a task that the iterator creates, not in the caller's isolation. The
    ///     name, the priority and the task-local values, such as the deadline, are those of the task that calls
    ///     `next()` first. A task of higher priority that waits in `next()` escalates the work. One child task can run
    ///     several operations, one after the other. If an operation cancels its own task, later operations run in other
    ///     tasks.
    /// - Returns: A sequence that buffers no results beyond the limit. Each iterator iterates the source separately.
    /// - Complexity: At most `limit` child tasks at a time.
    @export(implementation)
    public func concurrentMap<Output: Sendable>(
        limit: Int,
        order: FanOutOrder = .source,
        _ operation: @escaping @concurrent @Sendable (Element) async throws -> Output
    ) -> ConcurrentMapSequence<Self, Output> {
        ConcurrentMapSequence(self, limit: limit, order: order, operation)
    }

    /// Calls an operation for each element, for several elements at the same time, and passes the results to a consumer, one at a time.
    ///
    /// ```swift
    /// try await urls.concurrentMap(limit: 8) { url in
    ///     try await server.fetch(url)
    /// } forEach: { page in
    ///     show(page)
    /// }
    /// ```
    ///
    /// There are `limit` places: an operation takes a place when it begins, and frees the place when the consumer takes
    /// its result. So memory is bounded, even if the consumer is slow, or if results wait for the result of an earlier,
    /// slower operation. The next element is requested from this sequence, the source, only when a place is free. All
    /// work has ended when this function returns or throws.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, the call begins no further operation, cancels the source and the running operations,
    /// and waits for their end. It then throws `CancellationError`, even if an operation, the source or the consumer
    /// has thrown another error.
    ///
    /// The only exception: if the source had already returned `nil` and all operations had begun before the
    /// cancellation, the running operations are cancelled too, but the call waits for their results, passes these to
    /// the consumer, and returns if neither an operation nor the consumer throws.
    ///
    /// ## Errors
    /// The first error, of an operation, the source or the consumer, cancels the source and the operations, in which
    /// `Task.cancellationCause` is then `CancellationCause.requested(reason:)` with the reason "another operation has
    /// failed". The error is thrown when the source, the operations and the consumer have ended. Results that were not
    /// taken are discarded.
    ///
    /// ## Ordering
    /// The operations begin in the order of the source.
    ///
    /// - Parameters:
    ///   - limit: The number of places: the largest number of running operations and results that were not taken,
    ///     together. Less than 1 counts as 1.
    ///   - order: The order of the results. By default that of the source.
    ///   - operation: Runs in a child task, not in the caller's isolation. The task has the caller's name, priority and
    ///     task-local values. One child task can run several operations, one after the other. If an operation cancels
    ///     its own task, later operations run in other tasks.
    ///   - consume: Receives one result after the other, in the caller's task and isolation.
    /// - Throws: `CancellationError` if the caller is cancelled, except in the case that Cancellation describes;
    ///   otherwise the first error.
    /// - Complexity: At most `limit` child tasks at a time. Memory: O(`limit`).
    @export(implementation)
    public nonisolated(nonsending) func concurrentMap<Output: Sendable>(
        limit: Int,
        order: FanOutOrder = .source,
        _ operation: @concurrent @Sendable (Element) async throws -> Output,
        forEach consume: nonisolated(nonsending) (Output) async throws -> Void
    ) async throws {
        try await _FanOut.run(
            isolation: #isolation,
            self,
            limit: limit,
            order: order,
            operation,
            forEach: consume
        )
    }

    /// Calls an operation for each element, for several elements at the same time.
    ///
    /// ```swift
    /// try await messages.concurrentForEach(limit: 4) { message in
    ///     try await server.handle(message)
    /// }
    /// ```
    ///
    /// At most `limit` operations run at the same time. The next element is requested from this sequence, the source,
    /// only when its operation can begin. All work has ended when this function returns or throws.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, the call begins no further operation, cancels the source and the running operations,
    /// and waits for their end. It then throws `CancellationError`, even if an operation or the source has thrown
    /// another error.
    ///
    /// The only exception: if the source had already returned `nil` and all operations had begun before the
    /// cancellation, the running operations are cancelled too, but the call returns normally if none of them throws.
    ///
    /// ## Errors
    /// The first error, of an operation or of the source, cancels the source and the other operations, in which
    /// `Task.cancellationCause` is then `CancellationCause.requested(reason:)` with the reason "another operation has
    /// failed". This also ends a wait for the next element of the source. The error is thrown when the source and the
    /// operations have ended.
    ///
    /// ## Ordering
    /// The operations begin in the order of the source, and end in any order.
    ///
    /// - Parameters:
    ///   - limit: The number of operations that run at the same time. Less than 1 counts as 1.
    ///   - operation: Runs in a child task, not in the caller's isolation. The task has the caller's name, priority and
    ///     task-local values. One child task can run several operations, one after the other. If an operation cancels
    ///     its own task, later operations run in other tasks.
    /// - Throws: `CancellationError` if the caller is cancelled, except in the case that Cancellation describes;
    ///   otherwise the first error.
    /// - Complexity: At most `limit` child tasks at a time. Memory: O(`limit`).
    @export(implementation)
    public nonisolated(nonsending) func concurrentForEach(
        limit: Int,
        _ operation: @concurrent @Sendable (Element) async throws -> Void
    ) async throws {
        try await concurrentMap(limit: limit, order: .completion, operation) { _ in }
    }
}

extension Sequence where Self: Sendable, Element: Sendable {
    /// Calls an operation for each element, for several elements at the same time, and passes the results to a consumer, one at a time.
    ///
    /// ```swift
    /// try await urls.concurrentMap(limit: 8) { url in
    ///     try await server.fetch(url)
    /// } forEach: { page in
    ///     show(page)
    /// }
    /// ```
    ///
    /// There are `limit` places: an operation takes a place when it begins, and frees the place when the consumer takes
    /// its result. So memory is bounded, even if the consumer is slow, or if results wait for the result of an earlier,
    /// slower operation. The next element is taken from the sequence only when a place is free. All work has ended when
    /// this function returns or throws.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, the call begins no further operation, cancels the running operations, and waits for
    /// their end. It then throws `CancellationError`, even if an operation or the consumer has thrown another error.
    ///
    /// The only exception: if the iterator of the sequence had already returned `nil` and all operations had begun
    /// before the cancellation, the running operations are cancelled too, but the call waits for their results, passes
    /// these to the consumer, and returns if neither an operation nor the consumer throws.
    ///
    /// ## Errors
    /// The first error, of an operation or the consumer, cancels the operations, in which `Task.cancellationCause` is
    /// then `CancellationCause.requested(reason:)` with the reason "another operation has failed". The error is thrown
    /// when the operations and the consumer have ended. Results that were not taken are discarded.
    ///
    /// ## Ordering
    /// The operations begin in the order of the sequence.
    ///
    /// - Parameters:
    ///   - limit: The number of places: the largest number of running operations and results that were not taken,
    ///     together. Less than 1 counts as 1.
    ///   - order: The order of the results. By default that of the elements.
    ///   - operation: Runs in a child task, not in the caller's isolation. The task has the caller's name, priority and
    ///     task-local values. One child task can run several operations, one after the other. If an operation cancels
    ///     its own task, later operations run in other tasks.
    ///   - consume: Receives one result after the other, in the caller's task and isolation.
    /// - Throws: `CancellationError` if the caller is cancelled, except in the case that Cancellation describes;
    ///   otherwise the first error.
    /// - Complexity: At most `limit` child tasks at a time. Memory: O(`limit`).
    @export(implementation)
    public nonisolated(nonsending) func concurrentMap<Output: Sendable>(
        limit: Int,
        order: FanOutOrder = .source,
        _ operation: @concurrent @Sendable (Element) async throws -> Output,
        forEach consume: nonisolated(nonsending) (Output) async throws -> Void
    ) async throws {
        try await _FanOutElements(self).concurrentMap(limit: limit, order: order, operation, forEach: consume)
    }
}

/// An asynchronous sequence of the elements of a synchronous sequence.
@usableFromInline
struct _FanOutElements<Base: Sequence & Sendable>: AsyncSequence, Sendable {
    @usableFromInline typealias Element = Base.Element

    @usableFromInline let base: Base

    @export(implementation) init(_ base: Base) { self.base = base }

    @export(implementation) func makeAsyncIterator() -> Iterator { Iterator(base.makeIterator()) }

    @usableFromInline
    struct Iterator: AsyncIteratorProtocol {
        @usableFromInline var base: Base.Iterator

        @export(implementation) init(_ base: Base.Iterator) { self.base = base }

        @export(implementation) mutating func next() async -> Base.Element? { base.next() }
    }
}
