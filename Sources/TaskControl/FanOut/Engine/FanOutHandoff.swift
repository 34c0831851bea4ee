/// The way of the results of a fan-out to its caller, and of the next elements to the tasks that have run the operations.
///
/// A task that has ended an operation parks, and the caller resumes it with the next element: a fan-out creates as many tasks as it has places. To
/// park again costs less than a task that is created, registered for the cause of its cancellation, and released.
@usableFromInline
final class _FanOutHandoff: Sendable {
    /// An operation that has ended.
    @usableFromInline
    struct Finished: Sendable {
        /// The place of the operation, which has the result.
        @usableFromInline let place: Int
        /// The task of the operation; `nil`: it ends.
        @usableFromInline let waiter: UnsafeContinuation<Void, Never>?
    }

    private let state = Locked(FanOutHandoffStateMachine<Finished, UnsafeContinuation<Void, Never>>())

    @usableFromInline init() {}

    /// The operation of a place has ended. Its result is in the place.
    ///
    /// - Parameter waiter: Resumed by the caller; `nil`: the task ends.
    @usableFromInline
    func finish(_ place: Int, _ waiter: UnsafeContinuation<Void, Never>?) {
        state.withLock { $0.finish(Finished(place: place, waiter: waiter)) }?.resume()
    }

    /// Waits until an operation has ended, and takes all that have.
    ///
    /// - Parameter list: Empty.
    @usableFromInline
    nonisolated(nonsending) func take(into list: inout [Finished]) async {
        while true {
            state.withLock { $0.take(into: &list) }
            if !list.isEmpty { return }
            await suspend { waiter in state.withLock { $0.park(waiter) } ? nil : () }
        }
    }
}

/// The element and the result of one task of a fan-out. The caller and the task use it in turns.
@usableFromInline
final class _FanOutPlace<Element: Sendable, Output: Sendable, Failure: Error>: @unchecked Sendable {
    // Sendable: the caller uses it until it starts or resumes the task, and the task until it says that its operation has ended. Both are barriers, so
    // accesses are exclusive, which is not checked again at run time.

    /// The position in the list of places.
    @usableFromInline let index: Int
    /// The number of the element.
    @exclusivity(unchecked) @usableFromInline var number = 0
    /// `nil` after the last element: the task ends.
    @exclusivity(unchecked) @usableFromInline var element: Element?
    @exclusivity(unchecked) @usableFromInline var result: Result<Output, Failure>?

    @inlinable init(index: Int) { self.index = index }
}
