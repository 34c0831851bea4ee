import TaskControl

extension TaskEvent.Primitive {
    /// The primitive of the events of a simulation's tasks. Used only in the trace of a failed run, and never emitted
    /// to observers.
    static var simulation: Self { Self("Simulation", []) }
}

extension TaskEvent.Kind {
    /// The kind of an event that adds a text to the bar of a simulation's task. Used only in the trace of a failed run,
    /// and never emitted to observers.
    static var noted: Self { Self("noted") }
}
