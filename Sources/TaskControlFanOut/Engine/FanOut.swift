public import TaskControl

/// The functions that call an operation for several elements at the same time: a fan-out. For a sequence, the caller's
/// task takes the elements and the results. For an asynchronous sequence, a ``_FanOutPump`` takes the elements in a
/// child task.
@usableFromInline
enum _FanOut {
    /// Runs an operation for each element of a sequence, a limited number of operations at a time.
    ///
    /// - Parameters:
    ///   - isolation: The isolation of the caller, in which `collect` is called.
    ///   - source: The sequence.
    ///   - limit: The largest number of operations that run at the same time. Less than 1 counts as 1.
    ///   - operation: The operation.
    ///   - collect: Receives each result with the number of its element, counted from 0, in the order in which the
    ///     operations end.
    /// - Throws: The first error of an operation; `CancellationError` if the caller is cancelled and `Failure` allows
    ///   this error.
    @export(implementation)
    static func run<Source: Sequence, Output: Sendable, Failure: Error>(
        isolation: isolated (any Actor)?,
        _ source: Source,
        limit: Int,
        _ operation: @concurrent @Sendable (Source.Element) async throws(Failure) -> Output,
        collect: (Int, Output) -> Void
    ) async throws(Failure) where Source.Element: Sendable {
        let failure: Failure? = await withoutActuallyEscaping(operation) { operation in
            let (scope, name, limit) = (_FanOutScope(), callersName, placeCount(limit))
            return await withTaskGroup(of: Void.self, returning: Failure?.self) { group in
                // Captured so that the closure runs in the isolation.
                _ = isolation
                return await withTaskCancellationHandler {
                    _ = isolation
                    return await pull(isolation: isolation, source, limit, operation, name, scope, &group, collect)
                } onCancel: {
                    scope.callerIsCancelled()
                }
            }
        }
        guard let failure else { return }
        // A cancelled caller receives CancellationError, whatever was thrown.
        if _isTaskCancelled, let error = CancellationError() as? Failure { throw error }
        throw failure
    }

    /// Takes the elements of a sequence, and runs an operation for each of them in the tasks of a group. After the
    /// first error, takes no further element and cancels the running operations. Returns when all operations have
    /// ended.
    ///
    /// - Parameters:
    ///   - isolation: The isolation of the caller, in which `collect` is called.
    ///   - source: The sequence.
    ///   - limit: The largest number of operations that run at the same time: 1 or more.
    ///   - operation: The operation.
    ///   - name: The name of the tasks; `nil` for none.
    ///   - scope: The object from which the tasks of this fan-out read the cause of their cancellation.
    ///   - group: The group to which the tasks are added.
    ///   - collect: Receives each result with the number of its element, counted from 0.
    /// - Returns: The first error; `nil` if there was none.
    @export(implementation)
    static func pull<Source: Sequence, Output: Sendable, Failure: Error>(
        isolation: isolated (any Actor)?,
        _ source: Source,
        _ limit: Int,
        _ operation: @escaping @concurrent @Sendable (Source.Element) async throws(Failure) -> Output,
        _ name: String?,
        _ scope: _FanOutScope,
        _ group: inout TaskGroup<Void>,
        _ collect: (Int, Output) -> Void
    ) async -> Failure? where Source.Element: Sendable {
        let handoff = _FanOutHandoff()
        var places: [_FanOutPlace<Source.Element, Output, Failure>] = []
        // The indexes of the places without a running task.
        var left: [Int] = []
        var finished: [_FanOutHandoff.Finished] = []
        var elements = source.makeIterator()
        var (started, running, isOpen) = (0, 0, true)
        var failure: Failure?
        var loop = FairLoop()

        // Puts the next element into a place. Returns `false` if no operation may begin any more.
        func isFilled(_ place: _FanOutPlace<Source.Element, Output, Failure>) -> Bool {
            guard isOpen else { return false }
            // A cancelled caller begins no operation, if the type of the error allows CancellationError.
            if _isTaskCancelled, let error = CancellationError() as? Failure {
                (failure, isOpen) = (error, false)
                return false
            }
            guard let element = elements.next() else {
                isOpen = false
                return false
            }
            place.number = started
            place.element = element
            started += 1
            running += 1
            return true
        }

        while true {
            while isOpen, running < limit {
                if left.isEmpty {
                    left.append(places.count)
                    places.append(_FanOutPlace(index: places.count))
                }
                let place = places[left[left.count - 1]]
                guard isFilled(place) else { break }
                left.removeLast()
                group.addTask(name: name) { await work(place, handoff, scope, operation) }
            }
            if running == 0 { return failure }
            // Operations that end faster than the caller takes their results would keep the caller's actor.
            if loop.mustYieldAfterShortTurn() { await Task.yield() }
            await handoff.take(into: &finished)
            for end in finished {
                let place = places[end.place]
                running -= 1
                switch place.result.take() {
                case .success(let output): if failure == nil { collect(place.number, output) }
                case .failure(let error):
                    guard failure == nil else { break }
                    failure = error
                    isOpen = false
                    scope.fail()
                    group.cancelAll()
                case nil: preconditionFailure("A finished operation has a result.")
                }
                if let task = end.waiter {
                    _ = isFilled(place)
                    task.resume()
                } else {
                    left.append(end.place)
                    // Releases a task that has ended.
                    await group.next()
                }
            }
            finished.removeAll(keepingCapacity: true)
        }
    }

    /// Runs the operation for each element that the caller of the fan-out puts into a place, until the caller puts no
    /// other element there. Called in a child task.
    ///
    /// - Parameters:
    ///   - place: The place of this task, for its elements and results.
    ///   - handoff: The channel to which the task reports each operation that has ended.
    ///   - scope: The tasks of the fan-out, to which this task is added while it runs.
    ///   - operation: The operation.
    @export(implementation)
    @concurrent
    static func work<Element: Sendable, Output: Sendable, Failure: Error>(
        _ place: _FanOutPlace<Element, Output, Failure>,
        _ handoff: _FanOutHandoff,
        _ scope: _FanOutScope,
        _ operation: @escaping @concurrent @Sendable (Element) async throws(Failure) -> Output
    ) async {
        let number = scope.begin()
        defer { scope.end(number) }
        while let element = place.element.take() {
            if _isTaskCancelled, let error = CancellationError() as? Failure {
                place.result = .failure(error)
            } else {
                do throws(Failure) {
                    place.result = .success(try await operation(element))
                } catch {
                    place.result = .failure(error)
                }
            }
            // A cancelled task takes no other element: the operation may have cancelled it, which does not concern other operations.
            if _isTaskCancelled { return handoff.finish(place.index, nil) }
            await withUnsafeContinuation { handoff.finish(place.index, $0) }
        }
    }

    /// Runs an operation for each element of an asynchronous sequence, a limited number of operations at a time, and
    /// passes each result to a consumer in the caller's isolation.
    ///
    /// - Parameters:
    ///   - isolation: The isolation of the caller, in which `consume` is called.
    ///   - source: The asynchronous sequence.
    ///   - limit: The largest number of running operations and results that were not consumed, together.
    ///   - order: The order in which the consumer receives the results.
    ///   - operation: The operation.
    ///   - consume: The consumer, which receives one result after the other.
    /// - Throws: The first error of an operation, the source or the consumer; `CancellationError` if the caller is
    ///   cancelled.
    @export(implementation)
    static func run<Source: AsyncSequence & Sendable, Output: Sendable>(
        isolation: isolated (any Actor)?,
        _ source: Source,
        limit: Int,
        order: FanOutOrder,
        _ operation: @concurrent @Sendable (Source.Element) async throws -> Output,
        forEach consume: (Output) async throws -> Void
    ) async throws where Source.Element: Sendable {
        let failure: (any Error)? = await withoutActuallyEscaping(operation) { operation in
            let storage = _FanOutStorage(limit: limit, order: order)
            let name = callersName
            return await withTaskGroup(of: Void.self, returning: (any Error)?.self) { group in
                // Captured so that the closure runs in the isolation.
                _ = isolation
                group.addTask(name: name) { await _FanOutPump.run(source, storage, name: name, operation) }
                return await withTaskCancellationHandler {
                    _ = isolation
                    var loop = FairLoop()
                    while true {
                        switch await storage.next() {
                        case .over: return nil
                        case .failed(let error):
                            group.cancelAll()
                            await group.waitForAll()
                            return error
                        case .value(let value):
                            do {
                                try await consume(value.output(as: Output.self))
                                if loop.mustYield() { await Task.yield() }
                            } catch {
                                storage.stop(error, isFailure: true)
                            }
                        }
                    }
                } onCancel: {
                    storage.scope.callerIsCancelled()
                }
            }
        }
        guard let failure else { return }
        // A cancelled caller receives CancellationError, whatever was thrown.
        try Task.checkCancellation()
        throw failure
    }

    /// The largest number of results for which memory is reserved before there are results. An endless sequence may
    /// have a very large `underestimatedCount`.
    @usableFromInline static let mostReserved = 65_536

    @usableFromInline static var callersName: String? { Diagnostics.currentTaskName }
}

/// Returns the number of places for a limit: at least one. The first limit without a place is reported to diagnostics.
@usableFromInline
func placeCount(_ limit: Int) -> Int {
    ComputedNumber.count(limit, "concurrentMap(limit:)", TaskEvent.Primitive(rawValue: "concurrentMap"))
}

/// The running tasks of one fan-out. Records the cause of their cancellation, so that `Task.cancellationCause` returns
/// it in each of them.
///
/// The causes are recorded when the tasks are cancelled, and not when each task begins. So a task that is not cancelled
/// costs only two short critical sections.
@usableFromInline
final class _FanOutScope: Sendable {
    private static let failed = CancellationCause.requested(reason: "another operation has failed")

    private enum Phase {
        case running
        /// The caller of the fan-out was cancelled. The tasks have the same cause of cancellation as the caller.
        case callerCancelled
        case cancelled(CancellationCause)
    }

    private struct State {
        var phase = Phase.running
        var tasks = SlotTable<TaskAddress>()
    }

    private let caller = TaskAddress.running
    private let state = Locked(State())

    /// Creates the scope of a fan-out whose caller is the running task.
    @usableFromInline init() {}

    /// Adds the running task, which has just begun. If the fan-out is already cancelled, records the cause for the
    /// task.
    ///
    /// - Returns: The index of the task in the scope, which the task passes to ``end(_:)``.
    @usableFromInline
    func begin() -> Int32 {
        let task = TaskAddress.running
        return state.withLock { state in
            switch state.phase {
            case .running: break
            case .callerCancelled: CancellationCauses.link(task, to: caller)
            case .cancelled(let cause): CancellationCauses.record(cause, for: task)
            }
            return state.tasks.insert(task)
        }
    }

    /// Removes the running task, which is about to end.
    ///
    /// - Parameter place: The index that ``begin()`` returned.
    @usableFromInline
    func end(_ place: Int32) {
        state.withLock { $0.tasks.discard(place) }
        CancellationCauses.forget(.running)
    }

    /// Records, before the tasks are cancelled, that they are cancelled because one of them has failed.
    @usableFromInline
    func fail() { cancel(because: Self.failed) }

    /// Records the cause of the tasks' cancellation. Does not cancel the tasks: the caller must cancel them afterwards.
    /// Has no effect if a cause was already recorded.
    func cancel(because cause: CancellationCause) {
        state.withLock { state in
            guard case .running = state.phase else { return }
            state.phase = .cancelled(cause)
            // While the lock is held, no task can leave the scope and be deallocated.
            forEachTask(of: state) { CancellationCauses.record(cause, for: $0) }
        }
    }

    /// Records that the caller is being cancelled, so that the tasks have the same cause as the caller. Called by the
    /// cancellation handler of the caller, perhaps more than once.
    @usableFromInline
    func callerIsCancelled() {
        state.withLock { state in
            guard case .running = state.phase else { return }
            state.phase = .callerCancelled
            forEachTask(of: state) { CancellationCauses.link($0, to: caller) }
        }
    }

    private func forEachTask(of state: State, _ body: (TaskAddress) -> Void) {
        for place in 0..<state.tasks.extent where state.tasks.isOccupied(place) { body(state.tasks[place]) }
    }
}

/// The work of an iterator of ``ConcurrentMapSequence``: a task that takes the elements of the source and runs the
/// operations. The first call of `next()` starts the task, and the release of the iterator cancels it.
@usableFromInline
final class _FanOutRun: Sendable {
    @usableFromInline typealias Pump = @Sendable (_FanOutStorage, _ name: String?) async -> Void

    private enum Phase {
        case idle(Pump)
        case running(Task<Void, Never>)
        /// `next()` has returned `nil` or thrown.
        case over
    }

    private let storage: _FanOutStorage
    /// The state of the task: not started, running, or over. Calls of `next()` change it, one call at a time. `deinit`
    /// reads it.
    private let phase: Locked<Phase>

    @usableFromInline
    init(limit: Int, order: FanOutOrder, _ pump: @escaping Pump) {
        storage = _FanOutStorage(limit: limit, order: order)
        phase = Locked(.idle(pump))
    }

    deinit {
        guard case .running(let task) = phase.withLock({ $0 }) else { return }
        storage.stop(CancellationError()) { $0.cancel(because: .ownerDeallocated(name: nil)) }
        task.cancel()
    }

    /// Waits for the next result. Starts the work with the first call.
    ///
    /// - Returns: The next result; `nil` if the source has ended and all results were taken, or if an error was thrown
    ///   before.
    /// - Throws: The first error of an operation or of the source, or `CancellationError` if the caller is cancelled,
    ///   once all work has ended.
    @usableFromInline
    nonisolated(nonsending) func next() async throws -> _FanOutValue? {
        guard let task = task() else { return nil }
        while true {
            if _isTaskCancelled {
                // Read before the lock is taken: the cause may contain the description of a key, which is code of the
                // client.
                let cause = Task.cancellationCause
                storage.stop(CancellationError()) { scope in
                    if let cause, cause != .unknown { scope.cancel(because: cause) }
                }
            }
            switch storage.take() {
            case .value(let value): return value
            case .over:
                await end(task)
                return nil
            case .failed(let error):
                task.cancel()
                await end(task)
                // A cancelled caller receives CancellationError, whatever was thrown.
                try Task.checkCancellation()
                throw error
            case nil:
                await suspend { [storage] in
                    storage.park($0, leavingIfCancelled: true)
                } onCancel: { [storage] in
                    storage.wakeConsumer()
                } raising: {
                    raise([task], to: $0)
                }
            }
        }
    }

    /// Returns the task that takes the elements and runs the operations, and starts it if it has not been started.
    /// Returns `nil` if ``next()`` has already returned `nil` or thrown.
    private func task() -> Task<Void, Never>? {
        switch phase.withLock({ $0 }) {
        case .running(let task): return task
        case .over: return nil
        case .idle(let pump):
            let (storage, name) = (storage, _FanOut.callersName)
            let task = spawn(name: name) { await pump(storage, name) }
            // Released outside the lock.
            withExtendedLifetime(pump) { phase.withLock { $0 = .running(task) } }
            return task
        }
    }

    private nonisolated(nonsending) func end(_ task: Task<Void, Never>) async {
        await task.value
        // Released outside the lock.
        withExtendedLifetime(task) { phase.withLock { $0 = .over } }
    }
}
