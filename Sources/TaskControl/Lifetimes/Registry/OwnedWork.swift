/// The operation of a registered task.
protocol OwnedWork: _TaskBody where Failure == Never {
    /// The actor that it is isolated to.
    var isolation: (any Actor)? { get }

    /// The value of a task that was cancelled before its operation began.
    static var skipped: Success { get }

    /// Returns the handle of a task with this work, as the registry keeps it.
    static func registered(_ task: Task<Success, Never>) -> RegisteredTask
}

extension OwnedWork where Success == Void {
    static var skipped: Void { () }

    static func registered(_ task: Task<Void, Never>) -> RegisteredTask { .plain(task) }
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

/// An operation that delivers to an owner.
struct DeliveryWork: OwnedWork {
    let operation: @Sendable () async -> DeliveryOutcome

    var isolation: (any Actor)? { nil }

    static var skipped: DeliveryOutcome { .cancelled }

    static func registered(_ task: Task<DeliveryOutcome, Never>) -> RegisteredTask { .delivery(task) }

    nonisolated(nonsending) func run() async -> DeliveryOutcome { await operation() }
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
