extension Simulation {
    /// The simulation in which the caller runs; `nil` outside a simulation.
    ///
    /// Use this property in code that does not receive the ``Simulation`` as an argument, such as a test with the trait `.simulated` of
    /// `TaskControlTestingTraits`:
    ///
    /// ```swift
    /// @Test(.simulated) func aCancelledDownloadLeavesNoFile() async {
    ///     let download = Task { await downloadFile() }
    ///     Simulation.current?.cancelAtAnyPoint(download)
    ///     await download.value
    ///     #expect(!fileExists)
    /// }
    /// ```
    ///
    /// The property looks for the simulation of the current thread. Therefore it also works in detached tasks and in
    /// callbacks inside the simulation. On platforms without simulation, it is always `nil`.
    public static var current: Simulation? { SimulationSupport.current }
}
