extension TaskEvent.Primitive {
    /// A ``FIFOQueue``.
    public static var fifoQueue: Self { Self("FIFOQueue", [.line, .drainsEarlier]) }
    /// A ``ConcurrentQueue``.
    public static var concurrentQueue: Self { Self("ConcurrentQueue", [.line, .drainsEarlier]) }
    /// An ``ActorQueue``.
    public static var actorQueue: Self { Self("ActorQueue", [.drainsEarlier]) }
    /// A ``CancellableQueue``.
    public static var cancellableQueue: Self { Self("CancellableQueue", []) }
}

extension TaskEvent.Kind {
    /// A task or a caller has its place in the queue.
    public static var enqueued: Self { Self("enqueued") }
}
