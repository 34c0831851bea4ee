public import TaskControl

extension TaskEvent {
    /// The kind of subject that begins with this event: the name of the primitive, such as `FIFOQueue`, or, for a subject that does
    /// not do the work of the primitive, that name and the kind of the event, such as `FIFOQueue.draining`.
    public var activity: String { kind.isSecondary ? name : primitive.rawValue }
}

extension TaskEvent.Kind {
    /// Whether a subject that begins with an event of this kind is a wait for an empty owner, or obtains a new credential, instead of
    /// doing the work of its primitive.
    public var isSecondary: Bool { self == .draining || rawValue == "refreshing" }
}
