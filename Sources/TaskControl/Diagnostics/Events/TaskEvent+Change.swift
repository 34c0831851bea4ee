extension TaskEvent {
    /// The effect of an event on its ``TaskEvent/subject``, which is the task or call that the event is about: whether
    /// the subject begins, changes its phase, or ends.
    ///
    /// Each subject begins once and ends once. An observer that was added before a subject began receives the event of
    /// the beginning before the other events of the subject.
    public enum Change: Hashable, Sendable {
        /// The subject begins with this event, in the given phase.
        case began(Phase)
        /// The subject enters the given phase with this event.
        case entered(Phase)
        /// The event has no subject, or does not change the phase of its subject.
        case noted
        /// The subject ends with this event. Events that other tasks cause, such as a late cancellation, may still be
        /// delivered after this event.
        case ended(Outcome)
    }

    /// The state of a task or a call between two of its events: waiting or running.
    @nonexhaustive
    public enum Phase: String, Hashable, Sendable, Codable, CaseIterable {
        /// The task or call has not started, or waits: for its turn, permits, a callback, or the end of a delay.
        case waiting
        /// The work of the task or call runs, or the call holds the permits that it has acquired.
        case running
    }

    /// The form in which a task or a call has ended, such as completed or cancelled, as its events report it.
    @nonexhaustive
    public enum Outcome: String, Hashable, Sendable, Codable, CaseIterable {
        /// The work ended without an error, or the wait succeeded. A task that was added to an owner by `addTask` (for
        /// example of an ``AsyncLifetime``), `run(for:)` or `forEach(_:for:)` also ends as completed if its work threw an
        /// error: the event ``TaskEvent/Kind/workFailed`` reports that error.
        case completed
        /// The work threw an error.
        case failed
        /// The work threw an error after its task was cancelled. Or a call that waits, for example for a permit,
        /// stopped waiting because its caller was cancelled.
        case cancelled
        /// The task or call exceeded its time limit.
        case timedOut
        /// The task, or the work that the callers of a ``SingleFlight`` share, was cancelled before it began, and never
        /// runs. A call that is cancelled while it waits, for example for a permit, ends as ``cancelled``.
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

    /// The phase that the subject, the task or call that the event is about, enters with this event; `nil` if the event
    /// does not change the phase, ends the subject, or has no subject.
    public var phase: Phase? {
        switch change {
        case .began(let phase), .entered(let phase): phase
        case .noted, .ended: nil
        }
    }

    /// The outcome of the subject, the task or call that the event is about; `nil` if the event does not end the
    /// subject, or has no subject.
    public var outcome: Outcome? {
        if case .ended(let outcome) = change { outcome } else { nil }
    }

    /// Whether the subject, the task or call that the event is about, begins with this event; `false` if the event has
    /// no subject.
    public var isBeginning: Bool {
        if case .began = change { true } else { false }
    }
}
