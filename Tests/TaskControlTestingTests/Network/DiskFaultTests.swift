import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// Disks that take time and fail.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct DiskFaultTests {
    /// Two values that must change together, each made durable by a sync of its own.
    private static func transfers(_ sim: Simulation, _ disk: SimulatedNetwork.DiskFaults) async throws {
        let network = SimulatedNetwork(in: sim)
        network.addNode("bank", disk: disk) { process in
            let number: Int = process.disk.read("from") ?? 0
            sim.expect(process.disk.read("to") ?? 0, equals: number, "both values have changed, or none")
            process.addTask {
                for next in number + 1..<number + 1_000 {
                    process.disk.write(next, for: "from")
                    try await process.disk.sync()
                    process.disk.write(next, for: "to")
                    try await process.disk.sync()
                    try await process.clock.sleep(for: .milliseconds(20))
                }
            }
        }
        try await network.run {
            try await network.injectFaults(
                [.crash],
                count: 1,
                within: .milliseconds(50),
                lasting: .milliseconds(50) ... .seconds(1)
            )
        }
    }

    @Test func aCrashBetweenTwoSyncsIsFoundSoon() throws {
        for disk in [
            SimulatedNetwork.DiskFaults(losesUnsyncedWrites: true),
            SimulatedNetwork.DiskFaults(latency: .milliseconds(1) ... .milliseconds(5), losesUnsyncedWrites: true),
        ] {
            let failure = try #require(throws: Simulation.Failure.self) {
                try simulate(seeds: 0..<100) { sim in try await Self.transfers(sim, disk) }
            }
            guard case .expectation = failure.reason else { Issue.record("\(failure)"); continue }
        }
    }

    @Test func aSyncTakesTheLatencyOfTheDisk() throws {
        try simulate(seeds: 0..<20) { sim in
            let network = SimulatedNetwork(in: sim)
            let node = network.addNode("a", disk: .init(latency: .milliseconds(3) ... .milliseconds(9))) { _ in }
            try await network.run {
                try await node.disk.sync()
                sim.expect((.milliseconds(3)...(.milliseconds(9))).contains(sim.now), "\(sim.now)")
            }
        }
    }

    @Test func aSyncThatFailsLosesTheWritesInTheNextCrash() throws {
        try simulate(seeds: 0..<100) { sim in
            let network = SimulatedNetwork(in: sim)
            let node = network.addNode("a", disk: .init(losesUnsyncedWrites: true, failedSyncs: 0.5)) { _ in }
            try await network.run {
                node.disk.write(1, for: "key")
                do {
                    try await node.disk.sync()
                    sim.sometimes(true, "a sync succeeds")
                    node.restart()
                    sim.expect(node.disk.read("key"), equals: 1)
                } catch is SimulatedNetwork.DiskError {
                    sim.sometimes(true, "a sync fails")
                    sim.expect(node.disk.read("key"), equals: 1)
                    sim.expect(network.events.contains { $0.kind == .syncFailed("a") })
                    node.restart()
                    sim.expect(node.disk.read("key") as Int? == nil)
                }
            }
        }
    }

    @Test func aCrashTearsWritesThatWereNotSynced() throws {
        try simulate(seeds: 0..<100) { sim in
            let network = SimulatedNetwork(in: sim)
            let node = network.addNode("a", disk: .init(losesUnsyncedWrites: true, tornWrites: 0.5)) { _ in }
            try await network.run {
                node.disk.write("old", for: "synced")
                try await node.disk.sync()
                node.disk.write("0123456789", for: "text")
                node.restart()
                sim.expect(node.disk.read("synced"), equals: "old")
                let text: String? = node.disk.read("text")
                sim.expect("0123456789".hasPrefix(text ?? ""))
                sim.sometimes(text == nil, "the write is lost")
                sim.sometimes(text == "0123456789", "the write is kept")
                sim.sometimes(text.map { (1..<10).contains($0.count) } ?? false, "the write is torn")
            }
        }
    }
}
