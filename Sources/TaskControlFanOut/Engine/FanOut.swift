public import TaskControl

// The engine of fan-out, from the outside in:
//
//     concurrentMap, concurrentForEach …      the faces
//     _FanOut                                 a sequence: the caller's task takes elements and results
//     _FanOutRun                              an iterator: a task that works ahead of `next()`
//       _FanOutPump                           takes the elements of an asynchronous source
//     _FanOutStorage                          the lock; acts after unlocking
//       FanOutStateMachine                    which elements run, and in which order results are given
//       FanOutHandoffStateMachine             the operations that have ended, until the caller takes them
//     _FanOutScope                            the running tasks, for the cause of their cancellation

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
