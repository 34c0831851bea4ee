extension TaskEvent.Primitive {
    /// The primitive in events of a ``TaskBag``.
    ///
    /// - Note: A spelling of TaskBag: see <doc:MovingFromTaskBag>.
    public static var taskBag: Self { Self("TaskBag", []) }
    /// The primitive in events of an ``IdentifiableTaskBag``.
    ///
    /// - Note: A spelling of TaskBag: see <doc:MovingFromTaskBag>.
    public static var identifiableTaskBag: Self { Self("IdentifiableTaskBag", []) }
}
