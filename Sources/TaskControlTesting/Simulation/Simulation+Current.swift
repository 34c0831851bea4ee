extension Simulation {
    /// The simulation that the caller runs in; `nil` outside a simulation.
    ///
    /// Use it in code that does not receive the ``Simulation`` as an argument, such as a test with the trait `.simulated` of
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
    /// The simulation is looked up by thread, so it is also found in detached tasks and in callbacks inside the simulation. On platforms
    /// without simulation it is always `nil`.
    public static var current: Simulation? { SimulationSupport.current }
}
