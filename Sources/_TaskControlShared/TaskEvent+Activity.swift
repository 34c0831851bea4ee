public import TaskControl

extension TaskEvent {
    /// The name of the activity that begins with this event. This is the name of the event's primitive, such as
    /// `FIFOQueue`. If the event begins a wait or a renewal of a credential, the kind of the event follows, as in
    /// `FIFOQueue.draining`. For an event that does not begin an activity, the name has no meaning.
    public var activity: String { kind.isSecondary ? name : primitive.rawValue }
}

extension TaskEvent.Kind {
    /// Whether an event of this kind begins one of two additional activities of a primitive: a wait for an owner to
    /// have no tasks, or a renewal of a credential. `false` for all other kinds: those that begin the main activity of
    /// a primitive, such as running a task, and those that begin nothing.
    public var isSecondary: Bool { self == .draining || rawValue == "refreshing" }
}
