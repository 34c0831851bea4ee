public import TaskControl

extension TaskEvent {
    /// The name of the activity that begins with this event: the name of the primitive, such as `FIFOQueue`, or, for a wait or a renewal of a
    /// credential, the name of the primitive and the kind of the event, such as `FIFOQueue.draining`.
    public var activity: String { kind.isSecondary ? name : primitive.rawValue }
}

extension TaskEvent.Kind {
    /// Whether an event of this kind begins a wait for an owner to have no tasks, or a renewal of a credential, instead of the work of its primitive.
    public var isSecondary: Bool { self == .draining || rawValue == "refreshing" }
}
