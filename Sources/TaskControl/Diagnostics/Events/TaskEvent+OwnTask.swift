extension TaskEvent.Primitive {
    /// Whether a subject runs in a task of its own: the tasks of owners and queues, flights, and calls with a time limit.
    ///
    /// The event with which such a subject enters ``TaskEvent/Phase/running`` happens in the subject's own task, which is the event's
    /// ``TaskEvent/task``. The subjects of other primitives, such as a call of `retry`, run in the task that begins them.
    public var runsInOwnTask: Bool { !traits.contains(.call) || traits.contains(.awaited) }
}
