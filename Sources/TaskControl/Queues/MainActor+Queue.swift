extension MainActor {
    /// The queue that sends tasks to the main actor, from any context, synchronously and in order: see ``ActorQueue``.
    ///
    /// ```swift
    /// MainActor.queue.addTask { label.text = "half way" }
    /// MainActor.queue.addTask { label.text = "done" }       // always runs second
    /// ```
    ///
    /// A process has one such queue: tests that run at the same time share it. Each seed of a simulation of
    /// `TaskControlTesting` has its own.
    public static var queue: ActorQueue<MainActor> { MainActorQueue.shared }
}

private enum MainActorQueue {
    static var shared: ActorQueue<MainActor> { ProcessValues.value(of: Self.self, ofProcess, make: make) }

    private static let ofProcess = make()

    private static func make() -> ActorQueue<MainActor> {
        // Emits no event of the creation: an observer that used this queue when it received the event would wait for
        // this initialization, and so for itself.
        let queue = ActorQueue<MainActor>(name: "MainActor.queue", emitsCreation: false)
        queue.adoptExecutionContext(of: MainActor.shared)
        return queue
    }
}
