import TaskControl
import TaskControlTesting
import Testing

private struct Ask: SimulatedNetwork.Request { typealias Reply = Int }

@Suite(.timeLimit(.minutes(15)))
struct FaultInjectionTests {
    private let clock = TestClock()

    private func network(_ clock: TestClock? = nil) -> SimulatedNetwork {
        SimulatedNetwork(seed: 1, clock: clock ?? self.clock, latency: .seconds(1) ... .seconds(1))
    }

    @Test func injectedFaultsEndHealed() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        let nodes = ["a", "b", "c"].map { network.addNode($0) { process in process.handle(Ask.self) { _ in 1 } } }
        try await network.run {
            try await network.injectFaults(count: 60, within: .seconds(60))
            #expect(nodes.allSatisfy { $0.isRunning && !$0.isPaused })
            for node in nodes { #expect(try await network.send(Ask(), to: node.name) == 1) }
        }
        let kinds = network.events.map(\.kind.description)
        for fault in ["partition", "block", "slow", "crash", "pause"] {
            #expect(kinds.contains { $0.hasPrefix(fault) })
        }
        #expect(kinds.last { $0 == "heal" || $0.hasPrefix("partition") || $0.hasPrefix("block") } == "heal")
    }

    @Test func aCallerThatIsCancelledHealsWhatHasBegun() async throws {
        let network = network()
        let node = network.addNode("a") { _ in }
        try await network.run {
            let nemesis = Task {
                try await network.injectFaults(
                    [.pause],
                    count: 20,
                    within: .seconds(1),
                    lasting: .seconds(60) ... .seconds(60)
                )
            }
            try await clock.waitForSleepers(count: 20)
            await clock.advance(by: .seconds(2))
            // One fault has paused the node, and one is to pause it at a message. The others have found that, and ended.
            try await clock.waitForSleepers(count: 2)
            nemesis.cancel()
            await #expect(throws: CancellationError.self) { try await nemesis.value }
            #expect(!node.isPaused && node.isRunning)
        }
        #expect(network.events.contains { $0.kind == .paused("a") })
    }

    @Test func onlyTheVictimsCrash() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        for name in ["a", "b", "c"] { network.addNode(name) { _ in } }
        try await network.run {
            try await network.injectFaults([.crash], count: 30, within: .seconds(30), on: ["b"])
        }
        #expect(network.node("b").incarnation > 1)
        #expect(network.node("a").incarnation == 1 && network.node("c").incarnation == 1)
    }
}
