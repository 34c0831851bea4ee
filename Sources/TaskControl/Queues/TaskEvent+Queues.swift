extension TaskEvent.Primitive {
    /// The primitive in events of a ``FIFOQueue``.
    public static var fifoQueue: Self { Self("FIFOQueue", [.line, .drainsEarlier]) }
    /// The primitive in events of a ``ConcurrentQueue``.
    public static var concurrentQueue: Self { Self("ConcurrentQueue", [.line, .drainsEarlier]) }
    /// The primitive in events of the turns of one key of a ``KeyedFIFOQueue``.
    public static var keyedFIFOQueue: Self { Self("KeyedFIFOQueue", [.line, .drainsEarlier]) }
    /// The primitive in events of an ``ActorQueue``.
    public static var actorQueue: Self { Self("ActorQueue", [.drainsEarlier]) }
}

extension TaskEvent.Kind {
    /// A task, or a caller of `run(_:)`, took its place in a queue.
    public static var enqueued: Self { Self("enqueued") }
}
