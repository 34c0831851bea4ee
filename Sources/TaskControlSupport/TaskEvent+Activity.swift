public import TaskControl

extension TaskEvent {
    /// The kind of subject that begins with this event: the primitive, such as `FIFOQueue`, and apart from its work, such as
    /// `FIFOQueue.draining`. One of a few names.
    public var activity: String { kind.isSecondary ? name : primitive.rawValue }
}

extension TaskEvent.Kind {
    /// Whether a subject that begins with this kind is not the work of its primitive: a wait for an empty owner, or a new credential.
    public var isSecondary: Bool { self == .draining || rawValue == "refreshing" }
}
