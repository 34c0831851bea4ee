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
        await withUnsafeCurrentTask { current in
            let pump = _FanOutPumpTask(current)
            await withTaskGroup(of: Void.self) { group in
                var children = 0
                do {
                    var elements = source.makeAsyncIterator()
                    while let inUse = await storage.place() {
                        // Tasks that have ended are released: more than those of the places in use have.
                        while children > inUse {
                            await group.next()
                            children -= 1
                        }
                        guard let element = try await elements.next() else {
                            storage.endSource()
                            break
                        }
                        let number = storage.start()
                        children += 1
                        group.addTask(name: name) {
                            let place = storage.scope.begin()
                            defer { storage.scope.end(place) }
                            do {
                                // Work of a cancelled caller does not begin.
                                if _isTaskCancelled { throw CancellationError() }
                                storage.finish(number, _FanOutOutput(try await operation(element)))
                            } catch {
                                // The consumer may be at work, so the operation itself cancels the others and the source.
                                if storage.stop(error, isFailure: true) { pump.cancel() }
                            }
                        }
                    }
                } catch {
                    storage.stop(error, isFailure: true)
                    group.cancelAll()
                }
            }
        }
    }
}

/// The task that pulls a source. Its operations, which it waits for, may cancel it.
@usableFromInline
struct _FanOutPumpTask: @unchecked Sendable {
    // Sendable: `cancel` may be called from other tasks, while the task lives.
    private let task: UnsafeCurrentTask?

    @usableFromInline init(_ task: UnsafeCurrentTask?) { self.task = task }

    @usableFromInline func cancel() { task?.cancel() }
}
