extension TaskEvent.Primitive {
    /// The primitive in events of calls of `withCancellableContinuation`.
    public static var withCancellableContinuation: Self { Self("withCancellableContinuation", [.call]) }
    /// The primitive in events of an ``AsyncPromise``.
    public static var asyncPromise: Self { Self("AsyncPromise", [.call]) }
    /// The primitive in events of a ``PendingReplies``.
    public static var pendingReplies: Self { Self("PendingReplies", [.call]) }
}

extension TaskEvent.Kind {
    /// A callback API released its continuation without resuming it.
    public static var continuationDropped: Self { Self("continuationDropped") }
    /// A continuation was resumed again, although it or one of its copies had been resumed before. The result is
    /// ignored.
    public static var resumedAgain: Self { Self("resumedAgain") }
    /// A continuation was resumed after its caller was cancelled and had stopped waiting: usually the response of the
    /// API to the cancellation. The result is ignored.
    public static var resumedAfterCancellation: Self { Self("resumedAfterCancellation") }
    /// A continuation was resumed after the closure that was passed to `withCancellableContinuation` had thrown an
    /// error. The result is ignored.
    public static var resumedAfterFailure: Self { Self("resumedAfterFailure") }
    /// A reply came for an ID that a ``PendingReplies`` does not expect: too late, a second time, or to no request. It is ignored.
    public static var unexpectedReply: Self { Self("unexpectedReply") }
}

extension TaskOrigin {
    static var withCancellableContinuation: Self { Self("withCancellableContinuation", .withCancellableContinuation) }
}
