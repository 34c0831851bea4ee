public import TaskControl

/// The state of a fan-out from an asynchronous source, under a lock. It is shared by the puller (the task that takes
/// elements from the source), the tasks of the operations, and one consumer of the results.
@usableFromInline
final class _FanOutStorage: Sendable {
    @usableFromInline enum Step: Sendable {
        case value(_FanOutValue)
        /// The source has ended, and all results were taken.
        case over
        /// The fan-out has ended with this error.
        case failed(any Error)
    }

    typealias Machine = FanOutStateMachine<_FanOutValue>

    private struct State {
        var machine: Machine
        /// The operations that have ended, each with its task if the task waits for an element. The puller takes them.
        var tasks = FanOutHandoffStateMachine()
        /// Whether the puller takes no more elements. If so, the tasks receive no other element.
        var isLeft = false
        var error: (any Error)?
    }

    private let state: Locked<State>
    @usableFromInline let scope = _FanOutScope()

    @usableFromInline
    init(limit: Int, order: FanOutOrder) {
        state = Locked(State(machine: Machine(limit: placeCount(limit), order: order)))
    }

    // MARK: The puller

    /// Waits until a place is free for another operation.
    ///
    /// - Returns: `true` if the puller may take an element from the source; `false` if the fan-out has ended, and the
    ///   puller must stop.
    @usableFromInline
    func place() async -> Bool {
        while true {
            if _isTaskCancelled { stop(CancellationError()) }
            switch state.withLock({ $0.machine.place() }) {
            case .free: return true
            case .stop: return false
            case .wait:
                // Resumed by the consumer, or by `stop`. A cancellation does not resume the puller: after it, the
                // consumer takes a result or stops.
                await suspend { waiter in
                    state.withLock { $0.machine.park(puller: Word(waiter)) } == .wait ? nil : ()
                }
            }
        }
    }

    /// Records that the operation of an element starts. Traps if no place is free.
    ///
    /// - Parameter free: The operations that have ended, each with its task if the task waits for an element. If the
    ///   list is empty, the operations that have ended since the last call are added to it.
    /// - Returns: The number of the operation that starts, counted from 0.
    @usableFromInline
    func start(_ free: inout [_FanOutHandoff.Finished]) -> Int {
        state.withLock { state in
            if free.isEmpty { state.tasks.take(into: &free) }
            return state.machine.start()
        }
    }

    /// Records that the puller takes no other elements. The tasks that wait for an element end at once, and the running
    /// tasks end when their operations have ended.
    ///
    /// - Parameter free: The tasks that wait for an element, and that the puller has taken.
    @usableFromInline
    func leave(_ free: [_FanOutHandoff.Finished]) {
        var others: [_FanOutHandoff.Finished] = []
        state.withLock { state in
            state.isLeft = true
            state.tasks.take(into: &others)
        }
        for task in free { task.waiter?.resume() }
        for task in others { task.waiter?.resume() }
    }

    /// Records that the source has returned `nil`: the results are complete when all operations have ended. If the
    /// current task is cancelled, the source may have ended early: the fan-out then ends with `CancellationError`
    /// instead.
    @usableFromInline
    func endSource() {
        // A cancelled source may end early, so the results may be incomplete.
        if _isTaskCancelled { return _ = stop(CancellationError()) }
        state.withLock { $0.machine.endSource() }?.resume()
    }

    // MARK: The operations

    /// Reports the value of an operation that has ended.
    ///
    /// - Parameters:
    ///   - number: The number of the operation, which ``start(_:)`` has returned.
    ///   - value: The value that the operation has returned.
    ///   - place: The index of the ``_FanOutPlace`` of the operation's task.
    ///   - waiter: The continuation of the task, which is resumed when there is an element for the task, or when there
    ///     are no more elements; `nil` if the task ends instead.
    @usableFromInline
    func finish(_ number: Int, _ value: _FanOutValue, _ place: Int, _ waiter: UnsafeContinuation<Void, Never>?) {
        let (consumer, isLeft) = state.withLock { state in
            // In the same critical section as the result: when a place is free, a task is free as well.
            if !state.isLeft {
                _ = state.tasks.finish(_FanOutHandoff.Finished(place: place, waiter: waiter.map { Word($0) }))
            }
            return (state.machine.finish(number, value), state.isLeft)
        }
        consumer?.resume()
        if isLeft { waiter?.resume() }
    }

    /// Ends the fan-out with an error. Only the first call has an effect. This function cancels no tasks: its caller
    /// must cancel the tasks of the fan-out.
    ///
    /// - Parameters:
    ///   - error: The error that the consumer receives.
    ///   - isFailure: Whether an operation, the source or the consumer has failed, which is recorded as the cause of
    ///     the cancellation of the tasks.
    /// - Returns: Whether this call was the first.
    @usableFromInline
    @discardableResult
    func stop(_ error: any Error, isFailure: Bool = false) -> Bool {
        stop(error) { if isFailure { $0.fail() } }
    }

    /// Ends the fan-out with an error. Only the first call has an effect.
    ///
    /// - Parameters:
    ///   - error: The error that the consumer receives.
    ///   - record: Records the cause of the cancellation of the tasks. Called with the lock held, and only by the first
    ///     call of this function.
    /// - Returns: Whether this call was the first.
    @discardableResult
    func stop(_ error: any Error, recording record: (_FanOutScope) -> Void) -> Bool {
        let stop = state.withLock { state in
            let stop = state.machine.stop()
            if stop.isFirst {
                state.error = error
                record(scope)
            }
            return stop
        }
        stop.puller?.resume()
        stop.consumer?.resume()
        return stop.isFirst
    }

    // MARK: The consumer

    /// Takes the next result, the end or the error of the fan-out, without waiting.
    ///
    /// - Returns: The result, the end or the error; `nil` if there is none of them, and the consumer must wait.
    func take() -> Step? {
        let (taken, error) = state.withLock { ($0.machine.take(), $0.error) }
        taken.puller?.resume()
        switch taken.step {
        case .value(let value): return .value(value)
        case .over: return .over
        case .stopped: return .failed(error ?? CancellationError())
        case .wait: return nil
        }
    }

    /// Waits for the next result, or for the end or the error of the fan-out. A cancellation of the caller does not end
    /// the wait directly: it cancels the tasks of the fan-out, and the wait ends when the fan-out has ended.
    @usableFromInline
    nonisolated(nonsending) func next() async -> Step {
        while true {
            if let step = take() { return step }
            await suspend { park($0) }
        }
    }

    /// Stores the continuation of the consumer if there is nothing to take.
    ///
    /// - Parameter leavingIfCancelled: Whether a cancelled consumer must be resumed at once as well.
    ///
    /// - Returns: `nil` if the continuation was stored. Otherwise the consumer must be resumed at once.
    func park(_ waiter: UnsafeContinuation<Void, Never>, leavingIfCancelled: Bool = false) -> Void? {
        state.withLock { state in
            // Checked while the lock is held, so that the handler of a later cancellation finds the continuation.
            if leavingIfCancelled, _isTaskCancelled { return () }
            return state.machine.park(consumer: Word(waiter)) ? nil : ()
        }
    }

    /// Resumes the consumer if it waits, because it was cancelled.
    func wakeConsumer() { state.withLock { $0.machine.wakeConsumer() }?.resume() }
}

/// A result that waits for the consumer, without the type of its value, so that the code of ``_FanOutStorage`` is
/// compiled once for all types.
@usableFromInline class _FanOutValue: @unchecked Sendable {
    // Sendable: its only subclass has an immutable value that is Sendable.
    @export(implementation) init() {}
}

@usableFromInline final class _FanOutOutput<Output: Sendable>: _FanOutValue, @unchecked Sendable {
    // Sendable: its only property is a constant that is Sendable.
    @usableFromInline let output: Output

    @export(implementation) init(_ output: Output) { self.output = output }
}

extension _FanOutValue {
    /// Returns the value of this result. `Output` must be the type of that value.
    @export(implementation)
    func output<Output: Sendable>(as type: Output.Type) -> Output {
        unsafeDowncast(self, to: _FanOutOutput<Output>.self).output
    }
}

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
        @usableFromInline let waiter: Word?
    }

    private let state = Locked(FanOutHandoffStateMachine())

    @usableFromInline init() {}

    /// Reports that the operation of a place has ended. The place contains the result.
    ///
    /// - Parameters:
    ///   - place: The index of the operation's ``_FanOutPlace``.
    ///   - waiter: The continuation of the operation's task, which the caller of the fan-out resumes when there is
    ///     another element for the task, or when there are no more elements; `nil` if the task ends instead.
    @usableFromInline
    func finish(_ place: Int, _ waiter: UnsafeContinuation<Void, Never>?) {
        state.withLock { $0.finish(Finished(place: place, waiter: waiter.map { Word($0) })) }?.resume()
    }

    /// Waits until an operation has ended, and takes all operations that have ended and were not taken before.
    ///
    /// - Parameter list: An empty list, to which the operations are added.
    @usableFromInline
    nonisolated(nonsending) func take(into list: inout [Finished]) async {
        while true {
            state.withLock { $0.take(into: &list) }
            if !list.isEmpty { return }
            await suspend { waiter in state.withLock { $0.park(Word(waiter)) } ? nil : () }
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

    @export(implementation) init(index: Int) { self.index = index }
}
