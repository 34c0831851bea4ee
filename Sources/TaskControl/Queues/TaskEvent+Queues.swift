extension TaskEvent.Primitive {
    /// Identifies events of a ``FIFOQueue``.
    public static var fifoQueue: Self { Self("FIFOQueue", [.line, .drainsEarlier]) }
    /// Identifies events of a ``ConcurrentQueue``.
    public static var concurrentQueue: Self { Self("ConcurrentQueue", [.line, .drainsEarlier]) }
    /// Identifies events of an ``ActorQueue``.
    public static var actorQueue: Self { Self("ActorQueue", [.drainsEarlier]) }
    /// Identifies events of a ``CancellableQueue``.
    public static var cancellableQueue: Self { Self("CancellableQueue", []) }
}

extension TaskEvent.Kind {
    /// A task, or a caller of `run(_:)`, took its place in a queue.
    public static var enqueued: Self { Self("enqueued") }
}
