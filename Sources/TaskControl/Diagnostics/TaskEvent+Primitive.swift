extension TaskEvent {
    /// What an event happened in.
    public enum Primitive: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
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
