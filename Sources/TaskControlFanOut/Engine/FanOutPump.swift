public import TaskControl

/// The functions that take the elements of an asynchronous source, and run an operation for each of them.
@usableFromInline
enum _FanOutPump {
    /// Takes elements from a source, and runs an operation for each of them, until the source ends, an operation fails,
    /// or the task is cancelled. Returns when all operations have ended.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - storage: The state of the fan-out, which limits the number of operations and receives the results.
    ///   - name: The name of the tasks that run the operations; `nil` for none.
    ///   - operation: The operation.
    @export(implementation)
    @concurrent
    static func run<Source: AsyncSequence, Output: Sendable>(
        _ source: Source,
        _ storage: _FanOutStorage,
        name: String?,
        _ operation: @escaping @concurrent @Sendable (Source.Element) async throws -> Output
    ) async where Source.Element: Sendable {
        let place = storage.scope.begin()
        defer { storage.scope.end(place) }
        let pump = withUnsafeCurrentTask { _FanOutPumpTask($0) }
        await withTaskGroup(of: Void.self) { group in
            var places: [_FanOutPlace<Source.Element, Void, Never>] = []
            // The places whose operations have ended, each with its task if the task waits for an element.
            var free: [_FanOutHandoff.Finished] = []
            do {
                var elements = source.makeAsyncIterator()
                while await storage.place() {
                    guard let element = try await elements.next() else {
                        storage.endSource()
                        break
                    }
                    let number = storage.start(&free)
                    let task = free.popLast()
                    if task == nil { places.append(_FanOutPlace(index: places.count)) }
                    let place = places[task?.place ?? places.count - 1]
                    (place.number, place.element) = (number, element)
                    if let waiter = task?.waiter {
                        waiter.resume()
                    } else {
                        // Releases the task that has ended.
                        if task != nil { await group.next() }
                        group.addTask(name: name) { await work(place, storage, pump, operation) }
                    }
                }
            } catch {
                storage.stop(error, isFailure: true)
                group.cancelAll()
            }
            storage.leave(free)
        }
    }

    /// Runs the operation for each element that the pump (the task that takes the elements of the source) puts into a
    /// place, until the pump puts no other element there. An error ends the fan-out. Called in a child task of the
    /// pump.
    ///
    /// - Parameters:
    ///   - place: The place of this task, for its elements.
    ///   - storage: The state of the fan-out, which receives the results.
    ///   - pump: The pump, which is cancelled after the first error.
    ///   - operation: The operation.
    @export(implementation)
    @concurrent
    static func work<Element: Sendable, Output: Sendable>(
        _ place: _FanOutPlace<Element, Void, Never>,
        _ storage: _FanOutStorage,
        _ pump: _FanOutPumpTask,
        _ operation: @escaping @concurrent @Sendable (Element) async throws -> Output
    ) async {
        let entry = storage.scope.begin()
        defer { storage.scope.end(entry) }
        while let element = place.element.take() {
            let output: _FanOutOutput<Output>
            do {
                // Work of a cancelled caller does not begin.
                if _isTaskCancelled { throw CancellationError() }
                output = _FanOutOutput(try await operation(element))
            } catch {
                // The consumer may be busy with a result, so the task of the operation itself cancels the others and
                // the source.
                if storage.stop(error, isFailure: true) { pump.cancel() }
                return
            }
            // A cancelled task takes no other element: the operation may have cancelled it, which does not concern other operations.
            if _isTaskCancelled { return storage.finish(place.number, output, place.index, nil) }
            await withUnsafeContinuation { storage.finish(place.number, output, place.index, $0) }
        }
    }
}

/// The pump: the task that takes the elements of a source, and waits for the tasks of the operations. Any of these
/// tasks cancels the pump after an error.
@usableFromInline
struct _FanOutPumpTask: @unchecked Sendable {
    // Sendable: `cancel` may be called from other tasks, as long as the task of the pump exists. That task outlives the
    // operations, since it waits for them.
    private let task: UnsafeCurrentTask?

    @usableFromInline init(_ task: UnsafeCurrentTask?) { self.task = task }

    @usableFromInline func cancel() { task?.cancel() }
}
