/// The fan-out from a sequence: the caller's task pulls the elements, and takes each result at once.
@usableFromInline
enum _FanOut {
    /// - Parameter collect: Receives each result with the number of its element, in the order in which the operations end.
    @inlinable
    static func run<Source: Sequence, Output: Sendable, Failure: Error>(
        isolation: isolated (any Actor)?,
        _ source: Source,
        limit: Int,
        _ operation: @concurrent @Sendable (Source.Element) async throws(Failure) -> Output,
        collect: (Int, Output) -> Void
    ) async throws(Failure) where Source.Element: Sendable {
        let failure: Failure? = await withoutActuallyEscaping(operation) { operation in
            let (scope, name, limit) = (_FanOutScope(), callersName, max(1, limit))
            return await withTaskGroup(of: _FanOutEnd<Output, Failure>.self, returning: Failure?.self) { group in
                // So that the body has the isolation.
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

    /// - Returns: The first error.
    @inlinable
    static func pull<Source: Sequence, Output: Sendable, Failure: Error>(
        isolation: isolated (any Actor)?,
        _ source: Source,
        _ limit: Int,
        _ operation: @escaping @concurrent @Sendable (Source.Element) async throws(Failure) -> Output,
        _ name: String?,
        _ scope: _FanOutScope,
        _ group: inout TaskGroup<_FanOutEnd<Output, Failure>>,
        _ collect: (Int, Output) -> Void
    ) async -> Failure? where Source.Element: Sendable {
        var elements = source.makeIterator()
        var (started, running, isOpen) = (0, 0, true)
        var failure: Failure?
        while true {
            while isOpen, running < limit {
                // A cancelled caller begins nothing, where its error can say so.
                if _isTaskCancelled, let error = CancellationError() as? Failure {
                    failure = error
                    isOpen = false
                    break
                }
                guard let element = elements.next() else {
                    isOpen = false
                    break
                }
                let number = started
                started += 1
                running += 1
                group.addTask(name: name) {
                    let place = scope.begin()
                    defer { scope.end(place) }
                    if _isTaskCancelled, let error = CancellationError() as? Failure {
                        return _FanOutEnd(number: number, result: .failure(error))
                    }
                    do throws(Failure) {
                        return _FanOutEnd(number: number, result: .success(try await operation(element)))
                    } catch {
                        return _FanOutEnd(number: number, result: .failure(error))
                    }
                }
            }
            guard let end = await group.next() else { return failure }
            running -= 1
            if failure != nil { continue }
            switch end.result {
            case .success(let output): collect(end.number, output)
            case .failure(let error):
                failure = error
                isOpen = false
                scope.fail()
                group.cancelAll()
            }
        }
    }

    /// Runs a fan-out from an asynchronous source, with a consumer in the caller's isolation.
    @inlinable
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
                // So that the body has the isolation.
                _ = isolation
                group.addTask(name: name) { await _FanOutPump.run(source, storage, name: name, operation) }
                return await withTaskCancellationHandler {
                    _ = isolation
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

    /// The most results for which memory is reserved before there are results: a sequence without an end has a large count.
    @usableFromInline static let mostReserved = 65_536

    @usableFromInline static var callersName: String? { Diagnostics.currentTaskName }
}

/// The end of one operation.
@usableFromInline
struct _FanOutEnd<Output: Sendable, Failure: Error>: Sendable {
    @usableFromInline let number: Int
    @usableFromInline let result: Result<Output, Failure>

    @inlinable
    init(number: Int, result: Result<Output, Failure>) {
        self.number = number
        self.result = result
    }
}
