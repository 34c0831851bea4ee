extension TaskEvent.Primitive {
    /// Whether each task or call that the events of this primitive are about runs in a task of its own. `true` for the
    /// tasks of owners and queues, for the shared work of a ``SingleFlight``, and for the work of calls such as
    /// `withTimeout`. Also `true` for a primitive that was created from a name, because its ``Primitive/traits`` are
    /// not known.
    ///
    /// If `true`, the event with which a task or call enters ``TaskEvent/Phase/running`` happens in the task of its
    /// work: ``TaskEvent/task`` identifies that task. The exception is ``TaskEvent/Kind/adopted``, which happens in the
    /// task that adds the task to its owner. If `false`, as for `retry`, the work of a call runs in the task that makes
    /// the call.
    public var runsInOwnTask: Bool { !traits.contains(.call) || traits.contains(.awaited) }
}
