/// The work of a task that is registered with an owner, such as an ``AsyncLifetime`` or ``TaskStore``.
protocol OwnedWork: _TaskBody where Failure == Never {
    /// The actor that the work is isolated to; `nil` if there is none.
    var isolation: (any Actor)? { get }

    /// The value of a task that was cancelled before its work began.
    static var skipped: Success { get }

    /// Whether the value of a task with this work is a `DeliveryOutcome`; otherwise the task has no value.
    static var isDelivery: Bool { get }
}

extension OwnedWork {
    /// Returns the handle that the registry keeps for a task with this work.
    static func registered(_ task: Task<Success, Never>) -> RegisteredTask {
        RegisteredTask(handle: task.handle, isDelivery: isDelivery)
    }
}

extension OwnedWork where Success == Void {
    static var skipped: Void { () }

    static var isDelivery: Bool { false }
}

/// The work of a task whose operation does not throw.
struct OwnedOperation: OwnedWork {
    let operation: Operation

    init(_ operation: @escaping Operation) {
        self.operation = operation
    }

    var isolation: (any Actor)? { operation.isolation }

    nonisolated(nonsending) func run() async { await operation() }
}

/// The work of a task that passes its result or its elements to an object, as in `run(for:)` and `forEach(_:for:)`.
struct DeliveryWork: OwnedWork {
    let operation: @Sendable () async -> DeliveryOutcome

    var isolation: (any Actor)? { nil }

    static var skipped: DeliveryOutcome { .cancelled }

    static var isDelivery: Bool { true }

    nonisolated(nonsending) func run() async -> DeliveryOutcome { await operation() }
}

/// The work of a task whose operation may throw, and whose error is handled or reported to diagnostics.
struct HandledOperation<Handling: ErrorHandling>: OwnedWork {
    private let origin: _WorkOrigin
    private let operation: ThrowingOperation
    private let handler: Handling

    init(_ origin: _WorkOrigin, _ operation: @escaping ThrowingOperation, _ handler: Handling) {
        self.origin = origin
        self.operation = operation
        self.handler = handler
    }

    var isolation: (any Actor)? { operation.isolation }

    nonisolated(nonsending) func run() async {
        do {
            try await operation()
        } catch {
            await settle(error, in: origin.origin) { await handler.handle(error) }
        }
    }
}
