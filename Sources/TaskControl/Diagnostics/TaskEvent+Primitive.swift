extension TaskEvent {
    /// What an event happened in.
    public enum Primitive: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
        case asyncTask = "AsyncTask"
        case asyncLifetime = "AsyncLifetime"
        case taskBag = "TaskBag"
        case identifiableTaskBag = "IdentifiableTaskBag"
        case taskStore = "TaskStore"
        case fifoQueue = "FIFOQueue"
        case actorQueue = "ActorQueue"
        case cancellableQueue = "CancellableQueue"
        case withSingleFlight
        case singleFlight = "SingleFlight"
        case retry
        case withTimeout
        case withDetachedTimeout
        case asyncSemaphore = "AsyncSemaphore"
        case withCancellableContinuation
        case http = "HTTP"

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
        case .fifoQueue, .actorQueue, .cancellableQueue: false
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
