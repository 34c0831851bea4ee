/// The reason for which a task was cancelled.
///
/// ```swift
/// let uploads = AsyncLifetime(name: "uploads")
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
/// A cause is also the *error* of a caller that was not cancelled, and whose work its owner has cancelled or refused: the
/// flight of a ``SingleFlight``, the load of a `CachedFlight` or the call of an `EndpointClient` that
/// ``TaskOwner/cancelAll(because:)`` or ``TaskOwner/close()`` has cancelled, or a call of one that is closed. The requests of
/// a ``PendingReplies`` receive one too. (A caller that is cancelled itself receives `CancellationError`.)
///
/// ```swift
/// let flights = SingleFlight<String, Int>()
/// do {
///     print(try await flights.value(for: "visits") { 1 })
/// } catch let cause as CancellationCause where cause == .requested(reason: "signed out") {
///     print("signed out")
/// }
/// ```
///
/// The work has not failed: ``RetryPolicy/isWorthRetrying(_:)`` is `false` for the error, no cache keeps it, and no
/// circuit breaker counts it.
///
/// Swift itself has no cancellation reasons yet; the accepted proposal SE-0526 adds a reason for its own deadlines
/// only. Compare a cause with `==`, or its ``kind``, whose text, such as the reason, is in ``detail``.
public struct CancellationCause: Hashable, Sendable, Codable {
    /// The kind of event that has cancelled the task.
    public let kind: Kind

    /// The text that belongs to the cause: the key, the name of the owner or lease, or the reason; `nil` if there is none.
    public let detail: String?

    /// A kind of event that cancels a task. A `switch` over it needs an `@unknown default`.
    @nonexhaustive
    public enum Kind: String, Hashable, Sendable, CaseIterable, Codable {
        /// A newer task with the same key has replaced the task.
        case superseded
        /// The owner of the task was deallocated.
        case ownerDeallocated
        /// The owner of the task was closed or shut down.
        case shutdown
        /// A deadline or a time limit of the operation has passed.
        case deadline
        /// The last caller that waited for the task has stopped waiting.
        case lastCallerLeft
        /// A call such as ``TaskOwner/cancelAll(because:)`` has cancelled the task.
        case requested
        /// The lease under which the operation ran is no longer valid.
        case leaseLost
        /// The task was cancelled by other code.
        case unknown
    }

    private init(_ kind: Kind, _ detail: String? = nil) {
        self.kind = kind
        self.detail = detail
    }

    /// Returns the cause of a task that a newer task with the same key has replaced.
    ///
    /// - Parameter key: The key as text; `nil` for the tasks of a ``TaskSlot``. The text of a cause that the library has
    ///   recorded is that of ``TaskEvent/key``: the description only if an observer was registered when the key was added.
    public static func superseded(key: String?) -> Self { Self(.superseded, key) }
    /// Returns the cause of a task whose owner was deallocated.
    ///
    /// - Parameter name: The name of the owner; `nil` if it has none.
    public static func ownerDeallocated(name: String?) -> Self { Self(.ownerDeallocated, name) }
    /// Returns the cause of a task whose owner was closed or shut down.
    ///
    /// - Parameter name: The name of the owner; `nil` if it has none.
    public static func shutdown(name: String?) -> Self { Self(.shutdown, name) }
    /// The cause of a task whose deadline or time limit has passed.
    public static var deadline: Self { Self(.deadline) }
    /// The cause of a task whose last caller has stopped waiting. Such a task runs an operation that callers share, such
    /// as that of a ``SingleFlight``, or an operation that its only caller can abandon, such as that of
    /// ``withDetachedTimeout(_:name:clock:operation:)``.
    public static var lastCallerLeft: Self { Self(.lastCallerLeft) }
    /// Returns the cause of a task that a call such as ``TaskOwner/cancelAll(because:)`` has cancelled.
    ///
    /// - Parameter reason: The reason that was passed; `nil` if none was passed.
    public static func requested(reason: String?) -> Self { Self(.requested, reason) }
    /// Returns the cause of a task whose lease is no longer valid, so that another process may hold it: see `withLease`
    /// of `TaskControlFleet`.
    ///
    /// - Parameter name: The name of the lease.
    public static func leaseLost(name: String) -> Self { Self(.leaseLost, name) }
    /// The cause of a task that was cancelled by other code, such as `Task.cancel()`.
    public static var unknown: Self { Self(.unknown) }

    /// Decodes a cause. A kind that only a later version has is decoded as ``unknown``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let kind = try Kind(rawValue: container.decode(String.self, forKey: .kind))
        self.init(kind ?? .unknown, kind == nil ? nil : try container.decodeIfPresent(String.self, forKey: .detail))
    }
}

extension CancellationCause: Error, Interruption {}

extension CancellationCause: CustomStringConvertible {
    /// The cause in words, such as "requested: signed out".
    public var description: String {
        let words =
            switch kind {
            case .superseded: "superseded"
            case .ownerDeallocated: "owner deallocated"
            case .shutdown: "shutdown"
            case .deadline: "deadline"
            case .lastCallerLeft: "last caller left"
            case .requested: "requested"
            case .leaseLost: "lease lost"
            case .unknown: "unknown"
            }
        return detail.map { "\(words): \($0)" } ?? words
    }

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
