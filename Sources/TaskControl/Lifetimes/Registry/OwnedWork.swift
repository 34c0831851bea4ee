/// The operation of a registered task.
protocol OwnedWork: _TaskBody where Success == Void, Failure == Never {
    /// The actor that it is isolated to.
    var isolation: (any Actor)? { get }
}

/// An operation that cannot throw.
struct OwnedOperation: OwnedWork {
    let operation: Operation

    init(_ operation: @escaping Operation) {
        self.operation = operation
    }

    var isolation: (any Actor)? { operation.isolation }

    nonisolated(nonsending) func run() async { await operation() }
}

/// An operation whose errors a closure handles.
struct HandledOperation: OwnedWork {
    let origin: TaskOrigin
    let operation: ThrowingOperation
    let handler: ErrorHandler

    var isolation: (any Actor)? { operation.isolation }

    nonisolated(nonsending) func run() async {
        do {
            try await operation()
        } catch {
            await settle(error, in: origin) { await handler.handle(error) }
        }
    }
}
