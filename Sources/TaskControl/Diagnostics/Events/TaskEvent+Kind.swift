extension TaskEvent {
    /// The name of what happened, such as `started` or `cancelled`.
    ///
    /// Several primitives share the kinds that are declared here; each other kind is declared beside the primitive that emits it. A later version may
    /// have more, so a `switch` over them needs a `default`. The meaning of an event for its subject is in ``change``, not in its name.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The name of the kind, such as `cancelled`.
        public let rawValue: String

        /// Creates a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        package init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// The name of the kind, such as `cancelled`.
        public var description: String { rawValue }
    }
}

// Instances.
extension TaskEvent.Kind {
    /// An instance or an ``AsyncTask`` was created.
    public static var created: Self { Self("created") }
    /// An instance was deallocated. The tasks that it started may still run.
    public static var deallocated: Self { Self("deallocated") }
    /// An instance accepts no more tasks.
    public static var closed: Self { Self("closed") }
    /// All tasks of an instance were cancelled.
    public static var cancelledAll: Self { Self("cancelledAll") }
    /// A caller waits until an instance is empty.
    public static var draining: Self { Self("draining") }
    /// The wait of a caller is over, since the instance is empty.
    public static var drained: Self { Self("drained") }
}

// Tasks and calls.
extension TaskEvent.Kind {
    /// The subject waits: for its turn, a quiet time, permits, a delay.
    public static var waiting: Self { Self("waiting") }
    /// The work of the subject begins, or is about to.
    public static var started: Self { Self("started") }
    /// The work of the subject runs in a task of its own.
    public static var running: Self { Self("running") }
    /// The cancellation of the subject was requested.
    public static var cancelled: Self { Self("cancelled") }
    /// The work has ended without an error.
    public static var completed: Self { Self("completed") }
    /// The work has thrown an error.
    public static var failed: Self { Self("failed") }
    /// The subject was cancelled before its work began; the work will never run.
    public static var skipped: Self { Self("skipped") }
    /// Another caller waits for the subject.
    public static var joined: Self { Self("joined") }
    /// A caller that waited was cancelled, and no longer waits; or the task that began the subject does not wait for it.
    public static var left: Self { Self("left") }
}

// Errors.
extension TaskEvent.Kind {
    /// The work of a task threw an error, and no handler receives it.
    public static var unhandledError: Self { Self("unhandledError") }
    /// A cancelled task threw an error other than `CancellationError`.
    public static var errorAfterCancellation: Self { Self("errorAfterCancellation") }
    /// The work of a task for an owner threw an error; a handler may receive it.
    public static var workFailed: Self { Self("workFailed") }
}
