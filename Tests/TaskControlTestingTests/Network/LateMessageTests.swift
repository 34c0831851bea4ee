import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// The rare latencies of a network, and the time limit of a request.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct LateMessageTests {
    private struct Charge: SimulatedNetwork.Request {
        typealias Reply = Int
        let number: Int
    }

    /// A server that remembers the last three requests, and charges twice if a duplicate is later than that.
    private static func chargeTwice(_ lateMessages: Double) -> Simulation.Failure? {
        do {
            try simulate(seeds: 0..<300) { sim in
                let network = SimulatedNetwork(
                    in: sim,
                    latency: .milliseconds(1) ... .milliseconds(10),
                    faults: .init(duplicates: 0.2, lateMessages: lateMessages)
                )
                network.addNode("bank") { process in
                    let (charged, window) = (Locked<Set<Int>>([]), Locked<[Int]>([]))
                    process.handle(Charge.self) { charge in
                        if window.withLock({ $0.contains(charge.number) }) { return 0 }
                        window.withLock { $0 = ($0 + [charge.number]).suffix(3) }
                        sim.expect(charged.withLock { $0.insert(charge.number).inserted }, "each is charged once")
                        return charge.number
                    }
                }
                try await network.run {
                    for number in 0..<8 { _ = try await network.send(Charge(number: number), to: "bank") }
                    try await network.drain()
                }
            }
            return nil
        } catch {
            return error as? Simulation.Failure
        }
    }

    @Test func aLateDuplicateFindsAWindowThatIsTooShort() throws {
        #expect(Self.chargeTwice(0) == nil)
        #expect(try #require(Self.chargeTwice(0.05)).scheduleCount < 100)
    }

    @Test func aRequestEndsAtItsLimit() throws {
        try simulate(seeds: 0..<50) { sim in
            let network = SimulatedNetwork(in: sim, faults: .init(lostRequests: 1))
            network.addNode("bank") { process in process.handle(Charge.self) { $0.number } }
            let client = OrderRecorder<String>()
            network.addNode("client") { process in
                process.addTask {
                    do {
                        _ = try await process.send(Charge(number: 1), to: "bank", within: .seconds(2))
                    } catch {
                        client.record("\(type(of: error)) \(sim.now)")
                    }
                }
            }
            try await network.run {
                let error = await #expect(throws: TimeoutError.self) {
                    try await network.send(Charge(number: 1), to: "bank", within: .seconds(3))
                }
                sim.expect(error != nil && sim.now == .seconds(3))
            }
            sim.expect(client.events, equals: ["TimeoutError 2.0 seconds"])
        }
    }

    @Test func aReplyBeforeTheLimitIsReturned() throws {
        try simulate(seeds: 0..<50) { sim in
            let network = SimulatedNetwork(in: sim, latency: .milliseconds(1) ... .milliseconds(2))
            network.addNode("bank") { process in process.handle(Charge.self) { $0.number } }
            try await network.run {
                sim.expect(try await network.send(Charge(number: 7), to: "bank", within: .milliseconds(5)) == 7)
            }
        }
    }
}
