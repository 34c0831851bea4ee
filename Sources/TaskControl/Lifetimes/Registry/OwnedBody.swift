/// The code that a registered task runs. It waits until the ``TaskStoreDuplicateKeyBehavior`` lets the task begin, runs
/// the work, and removes the task from the registry.
struct OwnedBody<Work: OwnedWork>: _TaskBody {
    let registry: TaskRegistry
    let id: TaskRegistry.ID
    let work: Work

    @inline(__always)
    nonisolated(nonsending) func run() async -> Work.Success {
        let mayRun =
            switch registry.begin(id, isDelivery: Work.isDelivery) {
            case .run: true
            case .skip: false
            case .wait, .quiet, .throttle: await registry.waitAndBegin(id, isDelivery: Work.isDelivery)
            }
        guard mayRun else {
            let value = await work.end(registry.outcome(ofSkipped: id, isDelivery: Work.isDelivery))
            registry.leave(id, hasRun: false)
            return value
        }
        registry.emit(.started, .entered(.running), id)
        let value = await work.run()
        registry.leave(id, hasRun: true)
        return value
    }
}

/// The work of a task that is registered with an owner, such as an ``AsyncLifetime`` or ``TaskStore``.
protocol OwnedWork: _TaskBody where Failure == Never {
    /// The actor that the work is isolated to; `nil` if there is none.
    var isolation: (any Actor)? { get }

    /// Ends the task, whose work does not begin. Called in the task itself.
    ///
    /// - Parameter outcome: `cancelled` for a task that was cancelled, or that its owner refuses; `failed` for one that the
    ///   owner has removed, which handles the error.
    /// - Returns: The value of the task.
    nonisolated(nonsending) func end(_ outcome: DeliveryOutcome) async -> Success

    /// Whether the value of a task with this work is a `DeliveryOutcome`; otherwise the task has no value.
    static var isDelivery: Bool { get }

    /// Returns the value of a task with an outcome.
    static func value(_ outcome: DeliveryOutcome) -> Success
}

extension OwnedWork where Success == Void {
    static var isDelivery: Bool { false }

    static func value(_ outcome: DeliveryOutcome) {}

    nonisolated(nonsending) func end(_ outcome: DeliveryOutcome) async {}
}

extension OwnedWork where Success == DeliveryOutcome {
    static var isDelivery: Bool { true }

    static func value(_ outcome: DeliveryOutcome) -> DeliveryOutcome { outcome }
}

/// The work of a task without a value: an operation, whose error is passed to `onError` or reported to diagnostics.
struct OwnedOperation: OwnedWork {
    private let operation: StoredOperation
    private let origin: _WorkOrigin
    private let onError: (@isolated(any) @Sendable (any Error) async -> Void)?

    /// Creates the work of a task.
    ///
    /// - Parameters:
    ///   - operation: The operation that the task runs.
    ///   - origin: The public function that starts the task, for the report of an error.
    ///   - onError: Receives the error of the operation. If `nil`, the error is reported to diagnostics.
    init(
        _ operation: StoredOperation,
        in origin: _WorkOrigin,
        onError: (@isolated(any) @Sendable (any Error) async -> Void)? = nil
    ) {
        self.operation = operation
        self.origin = origin
        self.onError = onError
    }

    var isolation: (any Actor)? { operation.isolation }

    @inline(__always)
    nonisolated(nonsending) func run() async {
        do {
            try await operation.run()
        } catch {
            await settle(error, in: origin.origin, onError)
        }
    }

    nonisolated(nonsending) func end(_ outcome: DeliveryOutcome) async {
        if case .failed(let error) = outcome { await settle(error, in: origin.origin, onError) }
    }
}

/// The work of a task that passes its result or its elements to an object, as in `run(for:)` and `forEach(_:for:)`.
struct DeliveryWork: OwnedWork {
    /// Does the work if its argument is `nil`, and passes its outcome to the object. Otherwise passes the argument to the
    /// object, the outcome of work that does not begin. This is a part of the task, as `deliver` is: the task is registered
    /// until it has returned.
    let operation: @Sendable (DeliveryOutcome?) async -> DeliveryOutcome

    var isolation: (any Actor)? { nil }

    nonisolated(nonsending) func run() async -> DeliveryOutcome { await operation(nil) }

    nonisolated(nonsending) func end(_ outcome: DeliveryOutcome) async -> DeliveryOutcome { await operation(outcome) }
}
