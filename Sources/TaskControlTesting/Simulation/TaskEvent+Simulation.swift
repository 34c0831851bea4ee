import TaskControl

extension TaskEvent.Primitive {
    /// A task of a simulation, in the trace of a schedule. Never emitted to observers.
    static var simulation: Self { Self("Simulation", []) }
}

extension TaskEvent.Kind {
    /// A note of a simulated task. Never emitted to observers.
    static var noted: Self { Self("noted") }
}
