import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlTestingTraits

/// Whatever goes wrong under a seed is one issue.
@Suite(.enabled(if: Simulation.isSupported), .timeLimit(.minutes(15)), .tags(.schedules))
struct SimulatedIssueTests {
    private struct Mistake: Error {}

    private actor Account {
        var balance = 0

        func deposit() async {
            let before = balance
            await Task.yield()
            balance = before + 1
        }
    }

    private func outcome(
        _ trait: TaskControlTrait = .simulated(seeds: 3..<203),
        _ function: @concurrent @Sendable () async throws -> Void
    ) async throws -> Outcome {
        try await Outcome(of: trait, function)
    }

    /// - Returns: Whether an issue ends with what replays it.
    private func namesSeed(_ issue: Issue, _ seed: UInt64 = 3) -> Bool {
        let last = issue.comments.last?.rawValue ?? ""
        let name = Test.current?.filterName ?? ""
        return last.hasPrefix("seed \(seed)\nreplay: TASKCONTROL_SEED=\(seed) swift test --filter \(name)\n")
            && last.contains("virtual time, the task that ran")
    }

    @Test func aFailedExpectationIsOneIssueAtItsPlaceWithItsValuesAndTheSeed() async throws {
        let line = #line + 7
        let outcome = try await outcome {
            let account = Account()
            async let one: Void = account.deposit()
            async let other: Void = account.deposit()
            _ = await (one, other)
            let balance = await account.balance
            #expect(balance == 2, "both arrive")
            guard balance != 2 else { return }
            await Task.yield()
            Issue.record("after the end of the seed")
        }
        let issue = try outcome.issue
        #expect(issue.description.contains("(balance → 1) == 2"))
        #expect(issue.sourceLocation?.line == line)
        #expect(issue.comments.first == "both arrive" && issue.comments.count == 2)
        let seed = try #require(issue.comments.last?.rawValue.firstMatch(of: /seed (\d+)/).flatMap { UInt64($0.1) })
        #expect(namesSeed(issue, seed))
    }

    @Test func theFirstSeedThatFailsEndsTheTest() async throws {
        let seeds = OrderRecorder<UInt64>()
        let outcome = try await outcome {
            let seed = Simulation.current!.seed
            seeds.record(seed)
            #expect(seed != 7)
        }
        #expect(namesSeed(try outcome.issue, 7))
        #expect(seeds.events == [3, 4, 5, 6, 7])
    }

    @Test func severalFailuresWithinOneStepAreOneIssue() async throws {
        let outcome = try await outcome {
            #expect(1 == 2)
            #expect(3 == 4)
            throw Mistake()
        }
        #expect(try outcome.issue.description.contains("1 == 2"))
    }

    @Test func aFailedRequirementIsOneIssue() async throws {
        let issue = try await outcome {
            let nothing: Int? = nil
            _ = try #require(nothing)
        }.issue
        #expect(issue.description.contains("nothing → nil") && namesSeed(issue))
        guard case .expectationFailed = issue.kind else { Issue.record("\(issue.kind)"); return }
    }

    @Test func aThrownErrorIsOneIssue() async throws {
        let issue = try await outcome { throw Mistake() }.issue
        #expect(issue.error is Mistake && namesSeed(issue))
        #expect(issue.sourceLocation == Test.current?.sourceLocation)
    }

    @Test func aRecordedIssueIsOneIssue() async throws {
        let issue = try await outcome { Issue.record("so it is") }.issue
        #expect(issue.comments.first == "so it is" && namesSeed(issue))
    }

    @Test func anExpectationOfTheSimulationIsOneIssue() async throws {
        let line = #line + 1
        let issue = try await outcome { Simulation.current?.expect(false, "so it is") }.issue
        #expect(issue.comments.first == "so it is" && namesSeed(issue))
        #expect(issue.sourceLocation?.line == line && issue.sourceLocation?.filePath == #filePath)
    }

    @Test func aDeadlockIsOneIssue() async throws {
        let issue = try await outcome { try await Gate().wait() }.issue
        #expect(issue.text.contains("deadlock") && issue.text.contains("#0 body waits for a continuation"))
        #expect(issue.sourceLocation == Test.current?.sourceLocation)
    }

    @Test func aLivelockIsOneIssue() async throws {
        let issue = try await outcome(.simulated(seeds: 3..<5, maxSteps: 50)) {
            while true { await Task.yield() }
        }.issue
        #expect(issue.text.contains("no end after 50 steps") && namesSeed(issue))
    }

    @Test func aTaskLeftBehindIsOneIssue() async throws {
        let issue = try await outcome { Task { try await Gate().wait() } }.issue
        #expect(issue.text.contains("will never end"))
    }

    @Test func aKnownIssueDoesNotEndASeedAndIsRecordedOnce() async throws {
        let runs = Locked(0)
        let outcome = try await outcome {
            runs.withLock { $0 += 1 }
            await withKnownIssue {
                await Task.yield()
                #expect(1 == 2)
            }
            Issue.record("a warning", severity: .warning)
        }
        #expect(runs.withLock { $0 } == 200)
        #expect(outcome.issues.count == 2 && outcome.issues.allSatisfy { !$0.isFailure }, "\(outcome.issues)")
    }

    @Test func aKnownIssueThatDoesNotComeUnderASeedIsOneIssue() async throws {
        let outcome = try await outcome {
            withKnownIssue { #expect(Simulation.current?.seed == 4) }
        }
        #expect(outcome.issues.map(\.isFailure) == [false, true])
        #expect(namesSeed(try #require(outcome.issues.last), 4))
    }

    @Test func aTestThatIsCancelledEndsWithItsSeed() async throws {
        let (runs, test, start) = (Locked(0), Locked<Task<Outcome, any Error>?>(nil), Gate())
        let task = Task<Outcome, any Error> {
            await start.waitIgnoringCancellation()
            return try await outcome {
                let run = runs.withLock { runs in
                    runs += 1
                    return runs
                }
                if run == 10 { test.withLock { $0 }?.cancel() }
            }
        }
        test.withLock { $0 = task }
        start.open()
        let result = try await task.value
        #expect(result.issues.isEmpty && result.error is CancellationError)
        #expect(runs.withLock { $0 } == 10)
    }

    /// To shorten a schedule, the test runs again: only the last issue counts.
    @Test func schedulesThatRunAgainRecordNothing() async throws {
        let issues = ScheduleIssues()
        let (test, testCase) = (try #require(Test.current), Test.Case.current)
        try await issues.hold(test, testCase) {
            for value in [1, 2, 3] {
                _ = try? simulate(seed: 3) { simulation in
                    issues.begin(simulation)
                    #expect(value == 0)
                }
                precondition(issues.hasIssue)
            }
            try simulate(seed: 3) { issues.begin($0) }
        }
        #expect(!issues.hasIssue && issues.held?.description.contains("value → 3") == true)
    }
}
