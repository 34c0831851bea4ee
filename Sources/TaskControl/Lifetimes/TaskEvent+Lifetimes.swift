extension TaskEvent.Primitive {
    /// The primitive in events of an ``AsyncLifetime``.
    public static var asyncLifetime: Self { Self("AsyncLifetime", []) }
    /// The primitive in events of a ``TaskStore``.
    public static var taskStore: Self { Self("TaskStore", [.line, .overtaking]) }
    /// The primitive in events of a ``TaskSlot``.
    public static var taskSlot: Self { Self("TaskSlot", [.line, .overtaking]) }
    /// The primitive in events of a ``CancellableQueue``.
    public static var cancellableQueue: Self { Self("CancellableQueue", []) }
}

// The registry names these in its events and reports.
extension TaskEvent.Primitive {
    /// The primitive in events of an ``AsyncTask``.
    ///
    /// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
    public static var asyncTask: Self { Self("AsyncTask", []) }
    /// The primitive in events of a ``TaskBag``.
    ///
    /// - Note: A spelling of TaskBag: see <doc:MovingFromTaskBag>.
    public static var taskBag: Self { Self("TaskBag", []) }
    /// The primitive in events of an ``IdentifiableTaskBag``.
    ///
    /// - Note: A spelling of TaskBag: see <doc:MovingFromTaskBag>.
    public static var identifiableTaskBag: Self { Self("IdentifiableTaskBag", []) }
}

extension TaskEvent.Kind {
    /// A new task was registered with its owner. The task starts at once, or later if the owner makes it wait, as a
    /// ``TaskStore`` can.
    public static var added: Self { Self("added") }
    /// A task that was created elsewhere was registered with an owner.
    public static var adopted: Self { Self("adopted") }
    /// A task was not registered, because the owner has a task with the same key. The event is about the existing task.
    public static var duplicate: Self { Self("duplicate") }
    /// A task was not registered, because its owner is closed. About a task: it was removed before it began, because more tasks
    /// wait than may.
    public static var refused: Self { Self("refused") }
}
