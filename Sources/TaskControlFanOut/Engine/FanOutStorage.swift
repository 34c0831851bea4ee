internal import TaskControl

/// The books of a fan-out from an asynchronous source: one puller, its operations and one consumer.
@usableFromInline
final class _FanOutStorage: Sendable {
    @usableFromInline enum Step: Sendable {
        case value(_FanOutValue)
        /// The source has ended, and all results were taken.
        case over
        /// The fan-out has ended with this error.
        case failed(any Error)
    }

    typealias Machine = FanOutStateMachine<_FanOutValue, UnsafeContinuation<Void, Never>>

    private struct State {
        var machine: Machine
        /// The tasks that wait for an element, which the puller takes.
        var tasks = FanOutHandoffStateMachine<_FanOutHandoff.Finished, Never>()
        /// Whether there is no other element for the tasks.
        var isLeft = false
        var error: (any Error)?
    }

    private let state: Locked<State>
    @usableFromInline let scope = _FanOutScope()

    @usableFromInline
    init(limit: Int, order: FanOutOrder) {
        state = Locked(State(machine: Machine(limit: limit, order: order)))
    }

    // MARK: The puller

    /// Waits for a free place.
    ///
    /// - Returns: Whether the source is asked for an element; if not, nothing is pulled any more.
    @usableFromInline
    func place() async -> Bool {
        while true {
            if _isTaskCancelled { stop(CancellationError()) }
            switch state.withLock({ $0.machine.place() }) {
            case .free: return true
            case .stop: return false
            case .wait:
                // Woken by the consumer, or by `stop`. Not by a cancellation: after that, the consumer continues, and takes a result or stops.
                await suspend { waiter in
                    state.withLock { $0.machine.park(puller: waiter) } == .wait ? nil : ()
                }
            }
        }
    }

    /// Starts the operation of an element.
    ///
    /// - Parameter free: The tasks that wait for an element: filled if it is empty and there are some.
    /// - Returns: The number of the operation that starts.
    @usableFromInline
    func start(_ free: inout [_FanOutHandoff.Finished]) -> Int {
        state.withLock { state in
            if free.isEmpty { state.tasks.take(into: &free) }
            return state.machine.start()
        }
    }

    /// Lets the puller leave: the tasks that wait for an element end, and the running tasks end when their operations have ended.
    ///
    /// - Parameter free: The tasks that the puller has.
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

    /// Ends the results, since the source has returned `nil`.
    @usableFromInline
    func endSource() {
        // A cancelled source may end early, which is no reason to call the results complete.
        if _isTaskCancelled { return _ = stop(CancellationError()) }
        state.withLock { $0.machine.endSource() }?.resume()
    }

    // MARK: The operations

    /// Reports the value of an operation that has ended.
    ///
    /// - Parameters:
    ///   - place: The place of the operation's task.
    ///   - waiter: The task, resumed when there is an element for the task, or no more elements; `nil`: the task ends.
    @usableFromInline
    func finish(_ number: Int, _ value: _FanOutValue, _ place: Int, _ waiter: UnsafeContinuation<Void, Never>?) {
        let (consumer, isLeft) = state.withLock { state in
            // In one step with the result: when a place is free, so is a task.
            if !state.isLeft { _ = state.tasks.finish(_FanOutHandoff.Finished(place: place, waiter: waiter)) }
            return (state.machine.finish(number, value), state.isLeft)
        }
        consumer?.resume()
        if isLeft { waiter?.resume() }
    }

    /// Ends the fan-out. The first error counts. The caller cancels the tasks of the fan-out.
    @usableFromInline
    @discardableResult
    func stop(_ error: any Error, isFailure: Bool = false) -> Bool {
        stop(error) { if isFailure { $0.fail() } }
    }

    /// Ends the fan-out. The first error counts.
    ///
    /// - Parameter record: Records the cause. Called with the lock held, under which the end is known to be the first.
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

    /// Takes the next result.
    ///
    /// - Returns: `nil` if the consumer must wait.
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

    /// Waits for the next result, until all tasks of the fan-out have ended if there is none.
    @usableFromInline
    nonisolated(nonsending) func next() async -> Step {
        while true {
            if let step = take() { return step }
            await suspend { park($0) }
        }
    }

    /// Parks the consumer, if there is nothing to take.
    ///
    /// - Returns: `nil` if the consumer is parked.
    func park(_ waiter: UnsafeContinuation<Void, Never>, leavingIfCancelled: Bool = false) -> Void? {
        state.withLock { state in
            // Looked at under the lock, so that a cancellation afterwards finds the waiter.
            if leavingIfCancelled, _isTaskCancelled { return () }
            return state.machine.park(consumer: waiter) ? nil : ()
        }
    }

    /// Resumes the consumer, which was cancelled.
    func wakeConsumer() { state.withLock { $0.machine.wakeConsumer() }?.resume() }
}

/// A result that waits for the consumer. The books keep it without its type, so that their code is compiled once.
@usableFromInline class _FanOutValue: @unchecked Sendable {
    // Sendable: its one subclass has an immutable, sendable value.
    @inlinable init() {}
}

@usableFromInline final class _FanOutOutput<Output: Sendable>: _FanOutValue, @unchecked Sendable {
    // Sendable: its only property is a constant that is Sendable.
    @usableFromInline let output: Output

    @inlinable init(_ output: Output) { self.output = output }
}

extension _FanOutValue {
    /// Returns the output, whose type must be the given one.
    @inlinable
    func output<Output: Sendable>(as type: Output.Type) -> Output {
        unsafeDowncast(self, to: _FanOutOutput<Output>.self).output
    }
}
