extension TaskEvent.Primitive {
    /// Whether the task or call that an event of this primitive is about runs in a task of its own. This is true for the tasks of owners and queues,
    /// flights, and calls with a time limit.
    ///
    /// The event with which it enters ``TaskEvent/Phase/running`` then happens in its own task, which is the event's ``TaskEvent/task``. A call of
    /// another function, such as `retry`, runs in the task that makes the call.
    public var runsInOwnTask: Bool { !traits.contains(.call) || traits.contains(.awaited) }
}
