internal import TaskControl

/// A channel between the tasks of a fan-out and its caller. The tasks report the operations that have ended, and wait
/// for their next elements.
///
/// When its operation has ended, a task waits until the caller resumes it with the next element. So a fan-out creates
/// only as many tasks as operations may run at the same time. Suspending a task again costs less than creating a task,
/// registering it for the cause of its cancellation, and releasing it.
@usableFromInline
final class _FanOutHandoff: Sendable {
    /// An operation that has ended.
    @usableFromInline
    struct Finished: Sendable {
        /// The index of the ``_FanOutPlace`` of the operation, which contains the result.
        @usableFromInline let place: Int
        /// The continuation of the operation's task, which waits for the next element; `nil` if the task ends instead.
        @usableFromInline let waiter: UnsafeContinuation<Void, Never>?
    }

    private let state = Locked(FanOutHandoffStateMachine<Finished, UnsafeContinuation<Void, Never>>())

    @usableFromInline init() {}

    /// Reports that the operation of a place has ended. The place contains the result.
    ///
    /// - Parameters:
    ///   - place: The index of the operation's ``_FanOutPlace``.
    ///   - waiter: The continuation of the operation's task, which the caller of the fan-out resumes when there is
    ///     another element for the task, or when there are no more elements; `nil` if the task ends instead.
    @usableFromInline
    func finish(_ place: Int, _ waiter: UnsafeContinuation<Void, Never>?) {
        state.withLock { $0.finish(Finished(place: place, waiter: waiter)) }?.resume()
    }

    /// Waits until an operation has ended, and takes all operations that have ended and were not taken before.
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

/// The element and the result of one task of a fan-out. The caller and the task use the place alternately, never at the
/// same time.
@usableFromInline
final class _FanOutPlace<Element: Sendable, Output: Sendable, Failure: Error>: @unchecked Sendable {
    // Sendable: the caller uses the place until it starts or resumes the task, and the task uses the place until it
    // reports that its operation has ended. Both are memory barriers, so accesses are exclusive, and the run-time check
    // of exclusivity is turned off.

    /// The index of the place in the caller's list of places.
    @usableFromInline let index: Int
    /// The number of the element, counted from 0 in the order of the source.
    @exclusivity(unchecked) @usableFromInline var number = 0
    /// The next element of the task. If it is `nil` when the task is resumed, the task ends.
    @exclusivity(unchecked) @usableFromInline var element: Element?
    @exclusivity(unchecked) @usableFromInline var result: Result<Output, Failure>?

    @inlinable init(index: Int) { self.index = index }
}
