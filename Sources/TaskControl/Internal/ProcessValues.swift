private import CTaskControl

/// The values that this library keeps once per process, such as the flights of `withSingleFlight`, for a process that is
/// simulated. Each seed of a simulation begins without any: its result does not depend on the seeds before it, or on tests
/// outside the simulation, which keep their values.
package final class ProcessValues: Sendable {
    private let values = Locked([ObjectIdentifier: any Sendable]())
    /// The simulation in which the process is simulated, as the identity of its first process.
    private let simulation: ObjectIdentifier?

    /// Creates the values of a process that has just begun.
    ///
    /// - Parameter first: The first process of the simulation; `nil` for that process itself.
    package init(in first: ProcessValues? = nil) { simulation = first.map(ObjectIdentifier.init) }

    /// The values of the simulated process that this thread runs; `nil` outside simulations. One load, if the process has
    /// run no simulation.
    @inline(__always)
    package static var ofSimulation: ProcessValues? { tc_hasSimulated() ? ofThread : nil }

    @inline(never)
    private static var ofThread: ProcessValues? {
        tc_simulatedProcess().map { Unmanaged<ProcessValues>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The identity of the simulation that this thread runs; `nil` outside simulations.
    static var simulation: ObjectIdentifier? { ofSimulation.map { $0.simulation ?? ObjectIdentifier($0) } }

    /// Begins or continues to simulate a process on this thread. Its values must live until the next call, or until
    /// `endSimulation()`.
    package static func simulate(_ process: ProcessValues) {
        tc_setSimulatedProcess(Unmanaged.passUnretained(process).toOpaque())
    }

    /// Makes the code that follows on this thread that of the real process, until a process is simulated again.
    package static func leaveSimulation() { tc_setSimulatedProcess(nil) }

    /// Ends the simulation on this thread: removes the observers that it has registered.
    package static func endSimulation() {
        if let simulation { Observation.removeAll(of: simulation) }
        leaveSimulation()
    }

    /// Returns the value of the simulated process that this thread runs, which is made when it is first asked for; outside
    /// simulations that of the real process.
    ///
    /// - Parameters:
    ///   - owner: The type to which the value belongs.
    ///   - real: The value of the real process.
    ///   - make: Makes the value of a simulated process.
    @inline(__always)
    package static func value<Value: Sendable>(
        of owner: Any.Type,
        _ real: @autoclosure () -> Value,
        make: () -> Value
    ) -> Value {
        ofSimulation?.value(of: ObjectIdentifier(owner), make) ?? real()
    }

    /// Returns the value of an owner, which is made when it is first asked for. The owner must live as long as the value.
    @inline(never)
    func value<Value: Sendable>(of owner: ObjectIdentifier, _ make: () -> Value) -> Value {
        // Only the thread of the simulation asks, so no other thread makes the value meanwhile.
        if let value = values.withLock({ $0[owner] }) { return value as! Value }
        let value = make()
        values.withLock { $0[owner] = value }
        return value
    }
}
