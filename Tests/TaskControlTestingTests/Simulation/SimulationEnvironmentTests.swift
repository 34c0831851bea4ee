import Foundation
import TaskControlTesting
import TestSupport
import Testing

/// The effects of environment variables, without a change of a source.
@Suite(.tags(.schedules))
struct SimulationEnvironmentTests {
    private func seeds(_ variables: [String: String], insteadOf seeds: Range<UInt64> = 10..<20) throws -> Range<UInt64>
    {
        try SimulationEnvironment { variables[$0] }.seeds(insteadOf: seeds)
    }

    @Test func withoutVariablesTheSeedsOfTheSourceRun() throws {
        #expect(try seeds([:]) == 10..<20)
    }

    @Test func aSeedRunsAlone() throws {
        #expect(try seeds(["TASKCONTROL_SEED": "3"]) == 3..<4)
        #expect(try seeds(["TASKCONTROL_SEED": "3", "TASKCONTROL_SEEDS": "5"]) == 3..<4)
        #expect(try seeds(["TASKCONTROL_SEED": "\(UInt64.max - 1)"]) == .max - 1..<UInt64.max)
    }

    @Test func aNumberOfSeedsCountsFromTheFirst() throws {
        #expect(try seeds(["TASKCONTROL_SEEDS": "100000"]) == 10..<100_010)
        #expect(try seeds(["TASKCONTROL_SEEDS": "1"]) == 10..<11)
        #expect(try seeds(["TASKCONTROL_SEEDS": "\(UInt64.max)"]) == 10..<UInt64.max)
    }

    @Test(arguments: [
        ("TASKCONTROL_SEED", "three"), ("TASKCONTROL_SEED", "-1"), ("TASKCONTROL_SEED", "\(UInt64.max)"),
        ("TASKCONTROL_SEED", "0x10"), ("TASKCONTROL_SEEDS", "0"), ("TASKCONTROL_SEEDS", "1e6"),
        ("TASKCONTROL_SEEDS", "1 "), ("TASKCONTROL_SCHEDULE", "3"), ("TASKCONTROL_SCHEDULE", "3:x=1"),
    ])
    func aValueThatIsNotValidIsAnError(variable: String, value: String) throws {
        let error = #expect(throws: SimulationEnvironmentError.self) { try seeds([variable: value]) }
        #expect(error?.variable == variable && error?.value == value)
        #expect(error?.description.hasPrefix("\(variable)=\(value) is not a ") == true)
    }

    @Test(.enabled(if: Simulation.isSupported)) func aFailureIsWrittenIntoAFileNamedByPlaceAndSeed() throws {
        let failure = try #require(
            TaskControlTestingTests.failure(seed: 7) { simulation in simulation.expect(false, "so it is") }
        )
        #expect(failure.fileName.hasPrefix("TaskControlTestingTests-") && failure.fileName.hasSuffix("-seed-7.txt"))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("artifacts-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for _ in 1...2 { failure.write(into: folder.path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [failure.fileName])
        let text = try String(contentsOf: folder.appendingPathComponent(failure.fileName), encoding: .utf8)
        #expect(text == failure.description)
    }

    #if SUBPROCESSES
    @Test(.oneProcessAtATime, .enabled(if: Simulation.isSupported)) func theVariablesApplyToEveryCall() async {
        await #expect(processExitsWith: .success) {
            let seeds = OrderRecorder<UInt64>()
            setenv("TASKCONTROL_SEEDS", "3", 1)
            try simulate(seeds: 10..<20) { seeds.record($0.seed) }
            setenv("TASKCONTROL_SEED", "5", 1)
            try simulate(seeds: 10..<20) { seeds.record($0.seed) }
            // A line that replays a failure keeps replaying it.
            try simulate(seed: 99) { seeds.record($0.seed) }
            precondition(seeds.events == [10, 11, 12, 5, 99])
        }
    }

    @Test(.oneProcessAtATime, .enabled(if: Simulation.isSupported)) func aMistypedVariableIsThrownBeforeAnySeedRuns()
        async
    {
        await #expect(processExitsWith: .success) {
            setenv("TASKCONTROL_SEED", "abc", 1)
            do {
                try simulate(seeds: 0..<10) { _ in exit(1) }
                exit(2)
            } catch is SimulationEnvironmentError {}
        }
    }

    @Test(.oneProcessAtATime, .enabled(if: Simulation.isSupported)) func aFailingCallLeavesItsSchedule() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("artifacts-\(getpid())").path
            setenv("TASKCONTROL_ARTIFACTS", folder, 1)
            _ = try? simulate(seeds: 0..<10) { simulation in simulation.expect(simulation.seed < 4, "four") }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            try FileManager.default.removeItem(atPath: folder)
            guard files.count == 1, files[0].hasSuffix("-seed-4.txt") else { fatalError("\(files)") }
            // A folder that cannot be made does not hide the failure.
            setenv("TASKCONTROL_ARTIFACTS", "/dev/null/folder", 1)
            do { try simulate(seed: 4) { $0.expect(false) } } catch is Simulation.Failure { return }
            exit(1)
        }
        #expect(
            text(result).contains("TASKCONTROL_ARTIFACTS: /dev/null/folder/")
                && text(result).contains("could not be created")
        )
    }
    #endif
}
