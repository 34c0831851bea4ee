/// The test for which the trait `.simulated` of `TaskControlTestingTraits` calls `simulate`. The description of a
/// ``Simulation/Failure`` then names the test instead of the source location of the call.
package final class SimulatedTest: Sendable {
    /// The current test; `nil` if `simulate` is called directly.
    @TaskLocal package static var current: SimulatedTest?

    /// The name of the test in the form that `swift test --filter` accepts.
    package let name: String

    /// The shell command that runs only this test.
    let command: String

    package init(name: String) {
        self.name = name
        let isWord = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        command = "swift test --filter \(isWord ? name : "'\(name)'")"
    }

    /// Returns the shell command that runs only this test, with only the given seed.
    func replay(_ seed: UInt64) -> String { "TASKCONTROL_SEED=\(seed) \(command)" }

    /// Returns the shell command that runs only this test, with only the given schedule.
    func replay(_ schedule: Simulation.Schedule) -> String { "TASKCONTROL_SCHEDULE='\(schedule)' \(command)" }
}
