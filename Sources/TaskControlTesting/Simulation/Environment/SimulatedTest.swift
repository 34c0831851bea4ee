/// The test that a trait runs as a simulation. A ``SimulationFailure`` names the test instead of a call in the source.
package struct SimulatedTest: Sendable {
    /// The test whose trait calls `simulate`; `nil` for a call in the source.
    @TaskLocal package static var current: SimulatedTest?

    /// The name as `swift test --filter` takes it.
    package let name: String

    /// The command that runs the test.
    let command: String

    package init(name: String) {
        self.name = name
        let isWord = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        command = "swift test --filter \(isWord ? name : "'\(name)'")"
    }

    /// Returns the command that replays a seed.
    func replay(_ seed: UInt64) -> String { "TASKCONTROL_SEED=\(seed) \(command)" }

    /// Returns the command that replays a schedule.
    func replay(_ schedule: SimulationSchedule) -> String { "TASKCONTROL_SCHEDULE='\(schedule)' \(command)" }
}
