extension TaskEvent {
    /// What a subject does between one of its events and the next.
    public enum Phase: String, Hashable, Sendable, Codable, CaseIterable {
        /// It has not begun, or waits: for its turn, permits, a callback, a delay.
        case waiting
        /// Its work runs; of permits: they are held.
        case running
    }

    /// What the subject does from this event on. `nil`: what it did before; or nothing any more, if this is its end.
    public var phase: Phase? {
        guard subject != nil, stage != .ends else { return nil }
        return switch kind {
        case .started where primitive == .withCancellableContinuation: .waiting
        // Its task has been made; that says when it runs.
        case .started where stage == .begins && primitive.isAwaited: .waiting
        case .started, .running, .adopted, .acquired, .refreshing: .running
        // Of `retry`, between an attempt and its delay.
        case .failed: .running
        case .created, .added, .enqueued, .waiting, .draining: .waiting
        default: nil
        }
    }
}
