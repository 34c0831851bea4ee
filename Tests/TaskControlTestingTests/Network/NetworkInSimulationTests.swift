import TaskControlTesting
import TestSupport
import Testing

/// The example of `SimulatedNetwork`'s documentation.
private struct Increment: SimulatedNetwork.Request { typealias Reply = Int }

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct NetworkInSimulationTests {
    @Test func theExampleOfTheDocumentationPasses() throws {
        try simulate(seeds: Schedules.seeds(200, inDebug: 50), checksDeterminism: true) { sim in
            let network = SimulatedNetwork(in: sim, latency: .milliseconds(1) ... .milliseconds(20))
            network.addNode("server") { process in
                process.handle(Increment.self) { _ in
                    let count = (process.disk.read("count") ?? 0) + 1
                    process.disk.write(count, for: "count")
                    return count
                }
            }
            network.addNode("client") { process in
                process.addTask {
                    let count = try await process.send(Increment(), to: "server")
                    process.disk.write(count, for: "seen")
                }
            }
            try await network.run {
                try await network.injectFaults([.partition, .crash], count: 3, within: .seconds(5))
            }
            let (count, seen) = (
                network.node("server").disk.read("count") ?? 0, network.node("client").disk.read("seen") ?? 0
            )
            sim.expect(seen <= count, "what the client has seen was stored")
        }
    }

    @Test func anErrorOfATaskEndsTheRunWithThatError() throws {
        let failure = try #require(throws: Simulation.Failure.self) {
            try simulate(seed: 1) { sim in
                let network = SimulatedNetwork(in: sim)
                network.addNode("a") { process in process.addTask { throw Broken() } }
                try await network.run { try await Task.sleep(for: .seconds(1)) }
            }
        }
        guard case .threw(let error) = failure.reason else { throw failure }
        #expect(error is Broken)
        #expect(failure.description.contains("network: error: a task of a has thrown Broken()"))
    }

    @Test func faultsAreNotesOfTheSchedule() throws {
        let failure = try #require(throws: Simulation.Failure.self) {
            try simulate(seed: 1) { sim in
                let network = SimulatedNetwork(in: sim)
                for name in ["a", "b", "c"] { network.addNode(name) { _ in } }
                try await network.run {
                    network.partition(["a"], ["b", "c"])
                    network.node("b").pause()
                    sim.expect(false)
                }
            }
        }
        #expect(failure.description.contains("network: partition: {a} | {b, c}"))
        #expect(failure.description.contains("network: pause: b"))
    }

    @Test func injectedFaultsEndHealedWheneverTheirCallerIsCancelled() throws {
        try simulate(seeds: 0..<300) { sim in
            let network = SimulatedNetwork(in: sim, latency: .milliseconds(1) ... .milliseconds(20))
            let nodes = ["a", "b", "c"].map { name in
                network.addNode(name) { process in process.handle(Increment.self) { _ in 1 } }
            }
            try await network.run {
                let nemesis = Task {
                    try await network.injectFaults(
                        count: 8,
                        within: .seconds(1),
                        lasting: .milliseconds(10) ... .seconds(2)
                    )
                }
                let sender = Task {
                    while !Task.isCancelled { _ = try await network.send(Increment(), to: "a") }
                }
                sim.cancelAtAnyPoint(nemesis)
                _ = await nemesis.result
                sender.cancel()
                for node in nodes {
                    sim.expect(node.isRunning && !node.isPaused)
                    sim.expect(try await network.send(Increment(), to: node.name) == 1)
                }
                _ = await sender.result
            }
        }
    }
}

private struct Broken: Error {}
