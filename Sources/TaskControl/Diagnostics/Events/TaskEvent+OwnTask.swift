extension TaskEvent.Primitive {
    /// Whether each task or call that the events of this primitive are about runs in a task of its own. `true` for the
    /// tasks of owners and queues, for the shared work of a ``SingleFlight``, and for calls with a time limit. Also
    /// `true` for a primitive that was created from a name, because its ``Primitive/traits`` are not known.
    ///
    /// If `true`, the ``TaskEvent/task`` of the event with which a task or call enters ``TaskEvent/Phase/running`` is the task in which its work runs.
    /// If `false`, as for `retry`, a call runs in the task that makes the call.
    public var runsInOwnTask: Bool { !traits.contains(.call) || traits.contains(.awaited) }
}
