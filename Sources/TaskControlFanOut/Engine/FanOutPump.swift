public import TaskControl

/// Pulls a source, and runs the operations of its elements.
@usableFromInline
enum _FanOutPump {
    /// Returns when the source was left and all operations have ended.
    @inlinable
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
            // Tasks that wait for an element.
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

    /// Runs the operations of a place, until it has no other element.
    @inlinable
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
                // The consumer may be at work, so the operation itself cancels the others and the source.
                if storage.stop(error, isFailure: true) { pump.cancel() }
                return
            }
            // A cancelled task takes no other element: the operation may have cancelled it, which does not concern other operations.
            if _isTaskCancelled { return storage.finish(place.number, output, place.index, nil) }
            await withUnsafeContinuation { storage.finish(place.number, output, place.index, $0) }
        }
    }
}

/// The task that pulls a source. Its operations, which it waits for, may cancel it.
@usableFromInline
struct _FanOutPumpTask: @unchecked Sendable {
    // Sendable: `cancel` may be called from other tasks, while the task lives. It lives longer than its operations, for which it waits.
    private let task: UnsafeCurrentTask?

    @usableFromInline init(_ task: UnsafeCurrentTask?) { self.task = task }

    @usableFromInline func cancel() { task?.cancel() }
}
