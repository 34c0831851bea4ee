extension TaskEvent {
    /// What an event happened in.
    ///
    /// A later version may have more: a `switch` over them needs a `default`.
    public enum Primitive: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
        /// An ``AsyncTask``.
        case asyncTask = "AsyncTask"
        /// An ``AsyncLifetime``.
        case asyncLifetime = "AsyncLifetime"
        /// A ``TaskBag``.
        case taskBag = "TaskBag"
        /// An ``IdentifiableTaskBag``.
        case identifiableTaskBag = "IdentifiableTaskBag"
        /// A ``TaskStore``.
        case taskStore = "TaskStore"
        /// A ``FIFOQueue``.
        case fifoQueue = "FIFOQueue"
        /// An ``ActorQueue``.
        case actorQueue = "ActorQueue"
        /// A ``CancellableQueue``.
        case cancellableQueue = "CancellableQueue"
        /// A call of ``withSingleFlight(key:operation:)``.
        case withSingleFlight
        /// A ``SingleFlight``.
        case singleFlight = "SingleFlight"
        /// A call of `retry`.
        case retry
        /// A call of ``withTimeout(_:clock:operation:)``.
        case withTimeout
        /// A call of ``withDetachedTimeout(_:clock:name:operation:)``.
        case withDetachedTimeout
        /// An ``AsyncSemaphore``.
        case asyncSemaphore = "AsyncSemaphore"
        /// A call of `withCancellableContinuation`.
        case withCancellableContinuation
        /// A client of `TaskControlHTTP`, or its authenticator.
        case http = "HTTP"
        /// A task of a simulation (`TaskControlTesting`), in the trace of a schedule. Never emitted to observers.
        case simulation = "Simulation"

        /// The name as it is spelled in code.
        public var description: String { rawValue }
    }
}

extension TaskEvent.Primitive {
    /// Whether it happens in the task of whoever calls it, as far as that is not said otherwise.
    var isCall: Bool {
        switch self {
        case .retry, .withTimeout, .withCancellableContinuation, .http, .asyncSemaphore: true
        case .withSingleFlight, .singleFlight, .withDetachedTimeout: true
        case .asyncTask, .asyncLifetime, .taskBag, .identifiableTaskBag, .taskStore: false
        case .fifoQueue, .actorQueue, .cancellableQueue, .simulation: false
        }
    }

    /// Whether whoever begins it waits for its end, while it runs in a task of its own.
    var isAwaited: Bool {
        switch self {
        case .withTimeout, .withSingleFlight, .singleFlight, .withDetachedTimeout: true
        default: false
        }
    }
}
