#if os(Linux)
import Foundation
import TaskControlTesting
import TaskControlTestingTraits
import TestSupport
import Testing

/// The output for a reader: tests that fail on purpose, in a process of their own.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct SimulatedProcessTests {
    /// Runs one of the fixtures.
    ///
    /// - Returns: The lines about issues, with the lines that belong to them, and about how tests ended.
    private func output(of fixture: String, _ variables: [String: String] = [:]) async throws -> String {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--testing-library", "swift-testing", "--filter", "SimulatedFixtures/\(fixture)"]
        process.environment = ProcessInfo.processInfo.environment
            .merging(["TASKCONTROL_FIXTURES": "1", "NO_COLOR": "1"]) { $1 }.merging(variables) { $1 }
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let data = await Task.detached { pipe.fileHandleForReading.readDataToEndOfFile() }.value
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    private func issueCount(in output: String) -> Int { output.matches(of: /recorded an issue/).count }

    @Test func aFailingTestSaysHowToReplayItAndIsReplayed() async throws {
        let output = try await output(of: "losesAnUpdate")
        #expect(issueCount(in: output) == 1)
        let replay = try #require(
            output.firstMatch(of: /replay: TASKCONTROL_SEED=(\d+) swift test --filter losesAnUpdate\n/)
        )
        #expect(output.contains("Attached 'TaskControlTestingTraitsTests-SimulatedProcessTests-"))
        let again = try await self.output(of: "losesAnUpdate", ["TASKCONTROL_SEED": "\(replay.1)"])
        #expect(issueCount(in: again) == 1 && again.contains(replay.0))
    }

    @Test func eachCaseThatFailsIsOneIssue() async throws {
        let output = try await output(of: "failsForSomeArguments")
        #expect(issueCount(in: output) == 2)
        #expect(output.contains("recorded an issue with 1 argument value → 1 ") && output.contains("value → 3 "))
    }

    @Test func aMistypedVariableFailsTheTestWithoutRunningIt() async throws {
        let output = try await output(of: "losesAnUpdate", ["TASKCONTROL_SEED": "abc"])
        #expect(issueCount(in: output) == 1 && output.contains("TASKCONTROL_SEED=abc is not a number"))
    }

    @Test func aTestThatCancelsItselfIsCancelledAndHasNoIssue() async throws {
        let output = try await output(of: "cancelsItself")
        #expect(issueCount(in: output) == 0 && output.contains("Test cancelsItself() was cancelled"))
    }

    @Test func thePassingSeedsOfANightlyRunPass() async throws {
        let output = try await output(of: "passes", ["TASKCONTROL_SEEDS": "3000"])
        #expect(issueCount(in: output) == 0 && output.contains("Test passes() passed"))
    }
}

/// Tests that fail on purpose.
@Suite(
    .simulated(seeds: 0..<200),
    .enabled(if: ProcessInfo.processInfo.environment["TASKCONTROL_FIXTURES"] != nil),
    .tags(.schedules)
)
struct SimulatedFixtures {
    private actor Account {
        var balance = 0

        func deposit() async {
            let before = balance
            await Task.yield()
            balance = before + 1
        }
    }

    @Test func losesAnUpdate() async {
        let account = Account()
        async let one: Void = account.deposit()
        async let other: Void = account.deposit()
        _ = await (one, other)
        #expect(await account.balance == 2)
    }

    @Test(arguments: 1...3) func failsForSomeArguments(value: Int) async {
        await Task.yield()
        #expect(value == 2)
    }

    @Test func cancelsItself() async throws {
        await Task.yield()
        try Test.cancel("not today")
    }

    @Test func passes() async {
        await Task.yield()
    }
}
#endif
