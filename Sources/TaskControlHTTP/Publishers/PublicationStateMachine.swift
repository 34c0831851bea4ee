/// The subscription of one subscriber: a request that starts at the first demand, and whose outcome is delivered once.
struct PublicationStateMachine {
    private enum Phase {
        /// Nothing has been demanded.
        case idle
        /// The request runs.
        case running
        /// The subscriber receives the value; the completion follows.
        case delivering
        /// The subscriber has its completion, or has cancelled.
        case ended
    }

    private var phase = Phase.idle

    /// Whether the subscriber is released, and the request of no use.
    var isEnded: Bool { phase == .ended }

    /// The subscriber demands values. Returns whether the request starts.
    mutating func demand() -> Bool {
        guard phase == .idle else { return false }
        phase = .running
        return true
    }

    /// The request has ended. Returns whether its outcome is delivered.
    mutating func finish() -> Bool {
        guard phase == .running else { return false }
        phase = .delivering
        return true
    }

    /// The subscriber has received the value, if there is one. Returns whether it receives the completion: it may have
    /// cancelled meanwhile.
    mutating func complete() -> Bool {
        guard phase == .delivering else { return false }
        phase = .ended
        return true
    }

    /// The subscriber cancels.
    mutating func cancel() {
        phase = .ended
    }
}
