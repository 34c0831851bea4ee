import TaskControl

extension TaskEvent.Primitive {
    /// A task of a simulation. Used only in the trace of a failed run, and never emitted to observers.
    static var simulation: Self { Self("Simulation", []) }
}

extension TaskEvent.Kind {
    /// A note of a simulation. Used only in the trace of a failed run, and never emitted to observers.
    static var noted: Self { Self("noted") }
}
