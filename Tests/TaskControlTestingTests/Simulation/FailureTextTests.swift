import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// The text of a failure leads to its cause.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct FailureTextTests {
    private actor Account {
        private var balance = 0

        func add(_ amount: Int) { balance += amount }
        func add(_ amount: Int, to other: Account) async {
            balance -= amount
            await other.add(amount)
        }
    }

    private actor Bank { func open() {} }

    @Test func actorsOfOneTypeHaveNumbers() throws {
        let failure = try #require(
            failure { sim in
                let (first, second) = (Account(), Account())
                await Bank().open()
                await first.add(1, to: second)
                sim.expect(false)
            }
        )
        for text in ["#0 body on Bank ", "#0 body on Account 1 waits for its turn on Account 2"] {
            #expect(failure.description.contains(text), "\(failure)")
        }
    }

    /// The memory of the first actor may be that of the second one.
    @Test func anActorThatFollowsAnotherIsNotTakenForIt() throws {
        let failure = try #require(
            failure { sim in
                for _ in 0..<2 { await Account().add(1) }
                sim.expect(false)
            }
        )
        #expect(failure.description.contains("Account 1") && failure.description.contains("Account 2"), "\(failure)")
    }

    @Test func aFailedExpectationNamesItsTask() throws {
        let failure = try #require(
            failure { sim in await Task(name: "auditor") { sim.expect(false, "the books are right") }.value }
        )
        #expect(failure.description.contains("expected: the books are right, by #1 auditor\n"), "\(failure)")
    }

    /// The shortest schedule fails with other values than the seed.
    @Test func theFirstLineIsThatOfTheStepsBelow() throws {
        let failure = try #require(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<10, strategy: .random) { sim in
                let order = OrderRecorder<Int>()
                await withTaskGroup { group in
                    for number in 0..<4 { group.addTask { order.record(number) } }
                }
                sim.note("in the order \(order.events)")
                sim.expect(order.events == [], "\(order.events)")
            }
        }
        let lines = failure.description.split(separator: "\n")
        let order = try #require(lines.last { $0.contains("in the order ") }?.firstMatch(of: /\[.*?\]/)?.output)
        #expect(lines[0].contains("expected: \(order), by #0 body"), "\(failure)")
        #expect(lines.contains { $0.hasPrefix("  (the seed itself: ") }, "\(failure)")
        // A trait shows the details below the reason of the seed.
        #expect(
            failure.details.contains("(it fails with: ") && failure.details.contains("expected: \(order), by #0 body")
        )
    }

    @Test func theFaultsOfANetworkAreNoActionsOfTheProgram() throws {
        let failure = try #require(
            failure { sim in
                let network = SimulatedNetwork(in: sim)
                for name in ["a", "b"] { network.addNode(name) { _ in } }
                try await network.run {
                    try await network.injectFaults([.crash], count: 3, within: .seconds(3))
                    sim.expect(false)
                }
            }
        )
        #expect(failure.description.contains("  network: crash: "), "\(failure)")
        #expect(!failure.description.contains("an action of the program"), "\(failure)")
    }
}
