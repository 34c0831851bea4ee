extension TaskEvent {
    /// The effect of an event on the life of its subject, stated by the emitter.
    ///
    /// Each subject begins once and ends once. An observer receives the first event of a subject before its other events.
    public enum Change: Hashable, Sendable {
        /// The first event of the subject, which is in this phase from then on.
        case began(Phase)
        /// The subject is in this phase from now on.
        case entered(Phase)
        /// An event that does not change the phase of its subject, or that has no subject.
        case noted
        /// The last event of the subject. Events that other tasks cause may still be delivered after it.
        case ended(Outcome)
    }

    /// The state of a subject between two of its events.
    @nonexhaustive
    public enum Phase: String, Hashable, Sendable, Codable, CaseIterable {
        /// The subject has not started, or waits: for its turn, permits, a callback, a delay.
        case waiting
        /// The work of the subject runs, or its permits are held.
        case running
    }

    /// The way in which a subject has ended.
    @nonexhaustive
    public enum Outcome: String, Hashable, Sendable, Codable, CaseIterable {
        /// The work returned, or the wait succeeded.
        case completed
        /// The work threw an error.
        case failed
        /// The work threw an error after its task was cancelled, or the caller stopped waiting because it was cancelled.
        case cancelled
        /// The time limit was exceeded.
        case timedOut
        /// The subject was cancelled before its work began.
        case skipped
    }

    /// The severity of an event.
    @nonexhaustive
    public enum Severity: String, Hashable, Sendable, Codable, CaseIterable {
        /// An event of ordinary operation.
        case debug
        /// A probable mistake in the program, such as an error that no code receives.
        case warning
    }

    /// The phase that the subject enters with this event; `nil` if the event changes none or ends the subject.
    public var phase: Phase? {
        switch change {
        case .began(let phase), .entered(let phase): phase
        case .noted, .ended: nil
        }
    }

    /// The outcome of the subject; `nil` if the event is not its end.
    public var outcome: Outcome? {
        if case .ended(let outcome) = change { outcome } else { nil }
    }

    /// Whether this is the first event of its subject.
    public var isBeginning: Bool {
        if case .began = change { true } else { false }
    }
}
