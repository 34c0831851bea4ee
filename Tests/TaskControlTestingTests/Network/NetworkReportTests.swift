import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// The text of a network's failure, and how the failure is shortened.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct NetworkReportTests {
    private struct Ask: SimulatedNetwork.Request { typealias Reply = Int }

    /// The answers of a node are lost with it, which a client that asks without end notices after the first crash.
    private static func run(_ sim: Simulation, faults: Int) async throws {
        let network = SimulatedNetwork(
            in: sim,
            latency: .milliseconds(1) ... .milliseconds(9),
            faults: .init(lostReplies: 0.1)
        )
        for name in ["a", "b", "c"] {
            network.addNode(name) { process in
                process.handle(Ask.self) { _ in process.incarnation }
                process.addTask {
                    while true {
                        try await process.clock.sleep(for: .milliseconds(20))
                        let request = Task { try? await process.send(Ask(), to: "b") }
                        try await process.clock.sleep(for: .milliseconds(20))
                        request.cancel()
                        if let starts = await request.value { sim.expect(starts == 1, "b has never crashed") }
                    }
                }
            }
        }
        try await network.run {
            try await network.injectFaults(
                count: faults,
                within: .seconds(1),
                lasting: .milliseconds(50) ... .milliseconds(100)
            )
        }
    }

    private static func failure() throws -> Simulation.Failure {
        try #require(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<100) { sim in try await run(sim, faults: 6) }
        }
    }

    @Test func theFaultsComeBeforeTheStepsAndTheFileHasAllSteps() throws {
        let failure = try Self.failure()
        #expect(failure.steps.count > 40)
        let parts = failure.description.components(separatedBy: "what happened:\n")
        try #require(parts.count == 2)
        let crash = try #require(parts[1].range(of: "crash: b #1"))
        #expect(crash.lowerBound < parts[1].range(of: "steps (virtual time")!.lowerBound)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        failure.write(into: folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let text = try String(contentsOfFile: "\(folder)/\(failure.fileName)", encoding: .utf8)
        for step in failure.shrunk?.steps ?? failure.steps where step.location == nil {
            #expect(text.contains("\(step)"))
        }
    }

    @Test func aCrashNamesTheKeysThatItHasLostAndNoLineOfThisLibrary() throws {
        let failure = try #require(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<100) { sim in
                let network = SimulatedNetwork(in: sim)
                let node = network.addNode("smtp", losesUnsyncedWrites: true) { process in
                    if process.incarnation == 1 { for key in ["seen", "box"] { process.disk.write(1, for: key) } }
                }
                try await network.run {
                    node.restart()
                    sim.expect(node.disk.keys.count == 2, "both keys are there")
                }
            }
        }
        let text = "\(failure)"
        let keys = ["box", "seen", "box, seen"].map { "not synced by smtp, and lost: \($0)" }
        #expect(keys.contains { text.contains($0) }, "\(text)")
        #expect(!text.contains("NetworkStorage.swift"))
    }

    @Test func faultsThatTheFailureDoesNotNeedAreRemoved() throws {
        let failure = try Self.failure()
        let shrunk = try #require(failure.shrunk)
        func faults(_ steps: [SimulationStep]) -> [String] {
            steps.compactMap { step in
                guard case .note(let text) = step.event else { return nil }
                return ["crash", "pause", "partition", "block", "slow", "lost"].contains { text.hasPrefix("\($0):") }
                    ? text : nil
            }
        }
        #expect(faults(shrunk.steps).count { !$0.hasPrefix("lost") } == 1, "\(faults(shrunk.steps))")
        #expect(!shrunk.schedule.simplified.isEmpty)
        let again = try #require(throws: Simulation.Failure.self) {
            try simulate(schedule: shrunk.schedule) { sim in try await Self.run(sim, faults: 6) }
        }
        #expect(again.steps == shrunk.steps)
        #expect(Simulation.Schedule("\(shrunk.schedule)") == shrunk.schedule)
    }

    @Test func drawnInputsBecomeSimple() throws {
        let failure = try #require(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<100) { sim in
                var random = sim.random
                let numbers = (0..<20).map { _ in Int.random(in: 0..<100, using: &random) }
                sim.note("\(numbers)")
                sim.expect(numbers[7] < 50)
            }
        }
        let shrunk = try #require(failure.shrunk)
        #expect(shrunk.schedule.simplified == Array(0..<7) + Array(8..<20))
    }

    @Test func lostMessagesAreRecorded() throws {
        try simulate(seeds: 0..<20) { sim in
            let network = SimulatedNetwork(in: sim, faults: .init(lostReplies: 1))
            network.addNode("a") { process in process.handle(Ask.self) { _ in 1 } }
            try await network.run {
                let request = Task { try await network.send(Ask(), to: "a") }
                try await Task.sleep(for: .seconds(1))
                request.cancel()
                let lost = network.events.filter { if case .lost = $0.kind { true } else { false } }
                sim.expect(lost.map(\.kind.description), equals: ["lost: Ask from a client to a, or its reply"])
            }
        }
    }

    /// Such callers waited without end, and the failure named neither the network nor the request.
    @Test func callersOutsideAllNodesEndWithTheNetwork() throws {
        try simulate(seeds: 0..<200) { sim in
            let network = SimulatedNetwork(
                in: sim,
                latency: .milliseconds(1) ... .milliseconds(20),
                faults: .init(lostReplies: 0.3)
            )
            for name in ["a", "b", "c"] { network.addNode(name) { process in process.handle(Ask.self) { _ in 1 } } }
            let requests = try await network.run {
                let requests = ["a", "b", "c"].map { name in Task { try await network.send(Ask(), to: name) } }
                let closures = (0..<3).map { _ in Task { try await network.send(1) { $0 } } }
                try await Task.sleep(for: .milliseconds(10))
                return requests + closures
            }
            for request in requests {
                do { sim.expect(try await request.value, equals: 1) } catch { sim.expect(error is CancellationError) }
            }
            await #expect(throws: CancellationError.self) { try await network.send(Ask(), to: "a") }
        }
    }
}
