extension TaskEvent {
    /// The name of what happened, such as `started` or `cancelled`.
    ///
    /// The kinds that several types and functions of this library share are declared here; each other kind is declared beside the type or function
    /// that emits it. A later version may have more, so a `switch` over them needs a `default`. Whether an event begins or ends its subject is in
    /// ``TaskEvent/change``, not in the name.
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
    /// An instance, such as a queue or a bag, or an ``AsyncTask`` was created.
    public static var created: Self { Self("created") }
    /// An instance, such as a queue or a bag, was deallocated. The tasks that it started may still run.
    public static var deallocated: Self { Self("deallocated") }
    /// An instance, such as a bag, was closed: it accepts no more tasks.
    public static var closed: Self { Self("closed") }
    /// All tasks of an instance, such as a bag, were cancelled together.
    public static var cancelledAll: Self { Self("cancelledAll") }
    /// A caller waits until an instance, such as a queue, has no tasks.
    public static var draining: Self { Self("draining") }
    /// A caller that waited until an instance has no tasks continues, because the instance has none.
    public static var drained: Self { Self("drained") }
}

// Tasks and calls.
extension TaskEvent.Kind {
    /// The task or call waits: for its turn, for a quiet time, for permits, or for the end of a delay.
    public static var waiting: Self { Self("waiting") }
    /// The work of the task or call begins, or is about to begin.
    public static var started: Self { Self("started") }
    /// The work of a call runs in a task of its own.
    public static var running: Self { Self("running") }
    /// The cancellation of the task or call was requested. It may still run.
    public static var cancelled: Self { Self("cancelled") }
    /// The work has ended without an error.
    public static var completed: Self { Self("completed") }
    /// The work has thrown an error.
    public static var failed: Self { Self("failed") }
    /// The task or call was cancelled before its work began; the work will never run.
    public static var skipped: Self { Self("skipped") }
    /// Another caller waits for the task or call, such as the flight of a ``SingleFlight``.
    public static var joined: Self { Self("joined") }
    /// A caller that waited was cancelled, and no longer waits; or the task that began the work does not wait for it.
    public static var left: Self { Self("left") }
}

// Errors.
extension TaskEvent.Kind {
    /// The work of a task threw an error, and no handler receives it.
    public static var unhandledError: Self { Self("unhandledError") }
    /// A cancelled task threw an error other than `CancellationError`.
    public static var errorAfterCancellation: Self { Self("errorAfterCancellation") }
    /// The work of `run(for:)` or `forEach(_:for:)`, whose result is passed to an owner, threw an error; a handler may receive it.
    public static var workFailed: Self { Self("workFailed") }
}
