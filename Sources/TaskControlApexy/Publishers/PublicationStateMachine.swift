/// The state of one subscription: its request starts at the first demand of the subscriber, and the outcome is
/// delivered once.
struct PublicationStateMachine {
    private enum Phase {
        /// The subscriber has not demanded a value.
        case idle
        /// The request of the subscriber runs.
        case running
        /// The subscriber is receiving the value; its completion follows.
        case delivering
        /// The subscriber has received its completion, or has cancelled.
        case ended
    }

    private var phase = Phase.idle

    /// Whether the subscription has ended, so that the subscriber is released and the request is no longer needed.
    var isEnded: Bool { phase == .ended }

    /// Records that the subscriber demands values.
    ///
    /// - Returns: Whether the request must start.
    mutating func demand() -> Bool {
        guard phase == .idle else { return false }
        phase = .running
        return true
    }

    /// Records that the request has ended.
    ///
    /// - Returns: Whether the outcome must be delivered: `false` if the subscriber has cancelled.
    mutating func finish() -> Bool {
        guard phase == .running else { return false }
        phase = .delivering
        return true
    }

    /// Records that the subscriber has received the value, if there is one.
    ///
    /// - Returns: Whether the completion must be delivered: `false` if the subscriber has cancelled in the meantime.
    mutating func complete() -> Bool {
        guard phase == .delivering else { return false }
        phase = .ended
        return true
    }

    /// Records that the subscriber cancels the subscription.
    mutating func cancel() {
        phase = .ended
    }
}
