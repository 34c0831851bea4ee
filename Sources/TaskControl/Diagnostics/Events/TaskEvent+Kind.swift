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
    /// An instance, such as a ``FIFOQueue`` or an ``AsyncLifetime``, or an ``AsyncTask`` was created.
    public static var created: Self { Self("created") }
    /// An instance, such as a ``FIFOQueue`` or an ``AsyncLifetime``, was deallocated. The tasks that it started may still run.
    public static var deallocated: Self { Self("deallocated") }
    /// An instance, such as an ``AsyncLifetime``, was closed: it accepts no more tasks.
    public static var closed: Self { Self("closed") }
    /// An instance, such as a ``TaskStore`` or a ``FIFOQueue``, lets no task begin until ``resumed``.
    public static var paused: Self { Self("paused") }
    /// An instance that was ``paused`` lets its tasks begin again.
    public static var resumed: Self { Self("resumed") }
    /// All tasks of an instance, such as an ``AsyncLifetime``, were cancelled together.
    public static var cancelledAll: Self { Self("cancelledAll") }
    /// A caller begins to wait until the tasks of an instance, such as a ``FIFOQueue`` or an ``AsyncLifetime``, have ended.
    public static var draining: Self { Self("draining") }
    /// A wait for the end of all tasks of an instance, which began with ``draining``, has succeeded: the tasks have
    /// ended.
    public static var drained: Self { Self("drained") }
}

// Tasks and calls.
extension TaskEvent.Kind {
    /// The task or call begins to wait: for its turn in a queue, for permits, for the end of a delay, or until no newer
    /// task has come for a while.
    public static var waiting: Self { Self("waiting") }
    /// The work of the task or call begins. For a call whose work runs in a task of its own, such as `withTimeout`: the
    /// call begins, and ``running`` follows when its work begins.
    public static var started: Self { Self("started") }
    /// The work of a call that has ``started`` begins, in a task of its own.
    public static var running: Self { Self("running") }
    /// The cancellation of the task or call was requested. The task or call may still run.
    public static var cancelled: Self { Self("cancelled") }
    /// The work has ended without an error. A task that was added to an owner by `addTask` (for example of a
    /// ``TaskBag``), `run(for:)` or `forEach(_:for:)` also ends with this event if its work threw an error, which
    /// ``workFailed`` has reported.
    public static var completed: Self { Self("completed") }
    /// The work, or one attempt of a call such as `retry`, has thrown an error.
    public static var failed: Self { Self("failed") }
    /// The task, or the work that the callers of a ``SingleFlight`` share, was cancelled before it began, and never
    /// runs.
    public static var skipped: Self { Self("skipped") }
    /// Another caller begins to wait for the task or call, for example for work that the callers of a ``SingleFlight``
    /// share.
    public static var joined: Self { Self("joined") }
    /// A caller that waited was cancelled, and no longer waits. Also emitted when shared work begins without a caller,
    /// such as the refresh of a cached value in the background: observers count one caller when shared work begins, and
    /// this event corrects the number to zero.
    public static var left: Self { Self("left") }
}

// Errors.
extension TaskEvent.Kind {
    /// The work of a task threw an error, and no handler receives it.
    public static var unhandledError: Self { Self("unhandledError") }
    /// A cancelled task threw an error other than an interruption, such as `CancellationError`.
    public static var errorAfterCancellation: Self { Self("errorAfterCancellation") }
    /// The work of a task of an owner, such as an ``AsyncLifetime`` or a ``TaskStore``, threw an error. Emitted before
    /// the error is passed to the `onError` closure or reported, and also if the task was cancelled.
    public static var workFailed: Self { Self("workFailed") }
}

extension TaskEvent.Kind {
    /// A number that was passed to a function has no meaning there, and the nearest number that has one is used, or the
    /// default. The ``TaskEvent/detail`` names both. Emitted once per parameter in a process.
    public static var adjusted: Self { Self("adjusted") }
    /// A closure that receives the results of an owner's work has no isolation, so it runs on any thread, although the
    /// call was made on the main actor. The ``TaskEvent/detail`` names the function and the type of the owner. Emitted
    /// once for both in a process.
    public static var deliveredAnywhere: Self { Self("deliveredAnywhere") }
}
