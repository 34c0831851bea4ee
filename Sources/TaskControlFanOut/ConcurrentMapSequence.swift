/// An asynchronous sequence of the results of calling an operation for each element of a source, for several elements
/// at the same time.
///
/// Created by `concurrentMap(limit:order:_:)` of an asynchronous sequence, the source. The documentation of that
/// function describes order, errors and cancellation.
public struct ConcurrentMapSequence<Base: AsyncSequence & Sendable, Output: Sendable>: AsyncSequence, Sendable
where Base.Element: Sendable {
    /// The type of the elements: a result of the operation.
    public typealias Element = Output

    @usableFromInline let base: Base
    @usableFromInline let limit: Int
    @usableFromInline let order: FanOutOrder
    @usableFromInline let operation: @concurrent @Sendable (Base.Element) async throws -> Output

    @export(implementation)
    init(
        _ base: Base,
        limit: Int,
        order: FanOutOrder,
        _ operation: @escaping @concurrent @Sendable (Base.Element) async throws -> Output
    ) {
        (self.base, self.limit, self.order, self.operation) = (base, limit, order, operation)
    }

    /// Creates an iterator, which begins the work with the first call of `next()`.
    @export(implementation)
    public func makeAsyncIterator() -> Iterator {
        let (base, operation) = (base, operation)
        return Iterator(
            _FanOutRun(limit: limit, order: order) { storage, name in
                await _FanOutPump.run(base, storage, name: name, operation)
            }
        )
    }

    /// The iterator, which owns the running operations. Copies of an iterator share the operations, which are cancelled
    /// when the last copy is released.
    public struct Iterator: AsyncIteratorProtocol {
        @usableFromInline let run: _FanOutRun

        @export(implementation) init(_ run: _FanOutRun) { self.run = run }

        /// Returns the next result, in the ``FanOutOrder`` with which the sequence was created; `nil` when the source
        /// has ended and all results were taken.
        ///
        /// ## Cancellation
        /// If the caller is cancelled, the call cancels all work, waits until the work has ended, and throws
        /// `CancellationError`.
        ///
        /// - Throws: `CancellationError` if the caller is cancelled, otherwise the first error of an operation or of
        ///   the source, once all work has ended. Later calls return `nil`.
        @export(implementation)
        public mutating func next() async throws -> Output? { try await run.next()?.output(as: Output.self) }
    }
}
