/// The reason for which a task was cancelled.
///
/// ```swift
/// let uploads = TaskBag(name: "uploads")
/// uploads.addTask {
///     await api.refresh()
///     if Task.cancellationCause == .requested(reason: "signed out") { return }
/// }
/// uploads.cancelAll(because: "signed out")
/// ```
///
/// `Task.cancellationCause` returns the cause inside the cancelled task. The first cause counts: for example, a task
/// that a newer task with its key has replaced keeps the cause ``superseded(key:)`` if its ``TaskStore`` is closed
/// later.
///
/// Swift itself has no cancellation reasons yet; the accepted proposal SE-0526 adds a reason for its own deadlines
/// only. A `switch` over a cause needs an `@unknown default`.
@nonexhaustive
public enum CancellationCause: Hashable, Sendable, Codable {
    /// A newer task with the same key has replaced the task. The value is the key as text.
    case superseded(key: String)
    /// The owner of the task was deallocated. The value is the name of the owner; `nil` if it has none.
    case ownerDeallocated(name: String?)
    /// The owner of the task was closed or shut down. The value is the name of the owner; `nil` if it has none.
    case shutdown(name: String?)
    /// A deadline or a time limit of the operation has passed.
    case deadline
    /// The last caller that waited for the task has stopped waiting. Such a task runs an operation that callers share,
    /// such as that of a ``SingleFlight``, or an operation that its only caller can abandon, such as that of
    /// ``withDetachedTimeout(_:name:clock:operation:)``.
    case lastCallerLeft
    /// A call such as ``TaskOwner/cancelAll(because:)`` has cancelled the task. The value is the reason that was
    /// passed; `nil` if none was passed.
    case requested(reason: String?)
    /// The lease under which the operation ran is no longer valid, so another process may hold it: see `withLease` of
    /// `TaskControlFleet`. The value is the name of the lease.
    case leaseLost(name: String)
    /// The task was cancelled by other code, such as `Task.cancel()`.
    case unknown
}

extension CancellationCause: CustomStringConvertible {
    /// The cause in words, such as "requested: signed out".
    public var description: String {
        switch self {
        case .superseded(let key): "superseded: \(key)"
        case .ownerDeallocated(let name): Self.line("owner deallocated", name)
        case .shutdown(let name): Self.line("shutdown", name)
        case .deadline: "deadline"
        case .lastCallerLeft: "last caller left"
        case .requested(let reason): Self.line("requested", reason)
        case .leaseLost(let name): "lease lost: \(name)"
        case .unknown: "unknown"
        }
    }

    private static func line(_ cause: String, _ detail: String?) -> String { detail.map { "\(cause): \($0)" } ?? cause }

    /// The text of the cause in an event; `nil` for ``CancellationCause/unknown``.
    var eventText: String? { self == .unknown ? nil : description }
}

extension Task where Success == Never, Failure == Never {
    /// The reason for which the running task was cancelled; `nil` if it was not cancelled.
    ///
    /// The cause is that of the task that reads this property. For the operations of
    /// ``withTimeout(_:clock:operation:)``, ``withDeadline(_:operation:)``, `withHedging`, `withLease`, `concurrentMap` and
    /// `concurrentForEach`, which run in child tasks, the causes of the calling tasks count too, and the cause that was
    /// recorded first is returned. Other child tasks, such as those of `async let` and task groups, have the cause
    /// ``CancellationCause/unknown``, since Swift does not state which task a child belongs to: read the cause in the
    /// parent task itself. A task that code outside this library has cancelled also has the cause
    /// ``CancellationCause/unknown``.
    ///
    /// - Complexity: O(*n*) in the number of these operations that enclose the current code.
    public static var cancellationCause: CancellationCause? {
        _isTaskCancelled ? CancellationCauses.cause(of: .running)?.cause ?? .unknown : nil
    }
}
