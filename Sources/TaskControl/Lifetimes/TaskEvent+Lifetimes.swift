extension TaskEvent.Primitive {
    /// The primitive in events of an ``AsyncTask``.
    public static var asyncTask: Self { Self("AsyncTask", []) }
    /// The primitive in events of an ``AsyncLifetime``.
    public static var asyncLifetime: Self { Self("AsyncLifetime", []) }
    /// The primitive in events of a ``TaskBag``.
    public static var taskBag: Self { Self("TaskBag", []) }
    /// The primitive in events of an ``IdentifiableTaskBag``.
    public static var identifiableTaskBag: Self { Self("IdentifiableTaskBag", []) }
    /// The primitive in events of a ``TaskStore``.
    public static var taskStore: Self { Self("TaskStore", [.line, .overtaking]) }
}

extension TaskEvent.Kind {
    /// A new task was registered with its owner. The task starts at once, or later if the owner makes it wait, as a
    /// ``TaskStore`` can.
    public static var added: Self { Self("added") }
    /// A task that was created elsewhere was registered with an owner.
    public static var adopted: Self { Self("adopted") }
    /// A task was not registered, because the owner has a task with the same key. The event is about the existing task.
    public static var duplicate: Self { Self("duplicate") }
    /// A task was not registered, because its owner is closed.
    public static var refused: Self { Self("refused") }
    /// An ``AsyncTask`` was bound to a lifetime, which is the owner of the event.
    public static var boundToLifetime: Self { Self("boundToLifetime") }
    /// An ``AsyncTask`` was stored in a set of `AnyCancellable` values.
    public static var stored: Self { Self("stored") }
    /// An ``AsyncTask`` was detached: it has no lifetime that cancels it.
    public static var detached: Self { Self("detached") }
    /// An ``AsyncTask`` was released without having been bound, stored, detached or cancelled. The release cancels it.
    public static var dropped: Self { Self("dropped") }
}

extension TaskOrigin {
    static var asyncTask: Self { Self("AsyncTask", .asyncTask) }
    static var asyncLifetime: Self { Self("AsyncLifetime", .asyncLifetime, isForOwner: true) }
    static var taskBag: Self { Self("TaskBag", .taskBag, isForOwner: true) }
    static var identifiableTaskBag: Self { Self("IdentifiableTaskBag", .identifiableTaskBag, isForOwner: true) }
    static var taskStore: Self { Self("TaskStore", .taskStore, isForOwner: true) }
    static var lifetimeRun: Self { Self("AsyncLifetime.run", .asyncLifetime, isForOwner: true) }
    static var lifetimeForEach: Self { Self("AsyncLifetime.forEach", .asyncLifetime, isForOwner: true) }
    static var storeRun: Self { Self("TaskStore.run", .taskStore, isForOwner: true) }
}
