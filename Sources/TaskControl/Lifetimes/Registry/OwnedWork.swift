/// The work of a task that is registered with an owner, such as an ``AsyncLifetime`` or ``TaskStore``.
protocol OwnedWork: _TaskBody where Failure == Never {
    /// The actor that the work is isolated to; `nil` if there is none.
    var isolation: (any Actor)? { get }

    /// Ends the work of a task that was cancelled before its work began.
    ///
    /// - Parameter cause: The cause of the cancellation, for a task whose value is a `DeliveryOutcome`.
    /// - Returns: The value of the task.
    nonisolated(nonsending) func skipped(_ cause: CancellationCause) async -> Success

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
    @inline(__always)
    nonisolated(nonsending) func skipped(_ cause: CancellationCause) async {}

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

    static var isDelivery: Bool { true }

    nonisolated(nonsending) func run() async -> DeliveryOutcome { await operation() }

    @inline(__always)
    nonisolated(nonsending) func skipped(_ cause: CancellationCause) async -> DeliveryOutcome { .cancelled(cause) }
}

/// The work of a task that passes its result to an object, and notifies the object of its end, as in `run(for:)` with
/// `onEnd:`. The notification is a part of the task, as `deliver` is: the task is registered until it has returned.
struct NotifyingWork: OwnedWork {
    let origin: _WorkOrigin
    /// Whether `receive` passes the error to `onEnd`.
    let receivesAtEnd: Bool
    /// Does the work, and delivers the result.
    let perform: @Sendable () async throws -> DeliveryOutcome
    /// Passes an error of the work to the object, unless the task is cancelled: to `onError`, or, without it, to `onEnd`.
    let receive: @Sendable (any Error) async -> DeliveryOutcome
    /// Passes the outcome to `onEnd`, also if the task is cancelled.
    let notify: @Sendable (DeliveryOutcome) async -> Void

    var isolation: (any Actor)? { nil }

    static var isDelivery: Bool { true }

    nonisolated(nonsending) func run() async -> DeliveryOutcome {
        var outcome: DeliveryOutcome
        do {
            outcome = try await perform()
        } catch {
            let settlement = await settle(error, in: origin.origin) { await receive(error).isDelivered }
            outcome = settlement == .partOfCancellation ? .cancelledNow : .failed(error)
            if settlement == .received, receivesAtEnd { return outcome }
        }
        await notify(outcome)
        return outcome
    }

    nonisolated(nonsending) func skipped(_ cause: CancellationCause) async -> DeliveryOutcome {
        await notify(.cancelled(cause))
        return .cancelled(cause)
    }
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
