internal import TaskControl

/// The way of the results of a fan-out to its caller, and of the next elements to the tasks that have run the operations.
///
/// A task that has ended an operation parks, and the caller resumes it with the next element: a fan-out creates as many tasks as it has places.
/// Parking a task again costs less than creating a task, registering it for the cause of its cancellation, and releasing it.
@usableFromInline
final class _FanOutHandoff: Sendable {
    /// An operation that has ended.
    @usableFromInline
    struct Finished: Sendable {
        /// The place of the operation, which has the result.
        @usableFromInline let place: Int
        /// The task of the operation; `nil`: the task ends.
        @usableFromInline let waiter: UnsafeContinuation<Void, Never>?
    }

    private let state = Locked(FanOutHandoffStateMachine<Finished, UnsafeContinuation<Void, Never>>())

    @usableFromInline init() {}

    /// Reports the end of the operation of a place, which has the result.
    ///
    /// - Parameter waiter: The task of the operation, which the caller resumes; `nil`: the task ends.
    @usableFromInline
    func finish(_ place: Int, _ waiter: UnsafeContinuation<Void, Never>?) {
        state.withLock { $0.finish(Finished(place: place, waiter: waiter)) }?.resume()
    }

    /// Waits until an operation has ended, and takes all operations that have ended.
    ///
    /// - Parameter list: An empty list, to which the operations are added.
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
    /// The element of the task; `nil` after the last element: the task ends.
    @exclusivity(unchecked) @usableFromInline var element: Element?
    @exclusivity(unchecked) @usableFromInline var result: Result<Output, Failure>?

    @inlinable init(index: Int) { self.index = index }
}
