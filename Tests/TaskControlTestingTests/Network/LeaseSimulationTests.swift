import TaskControl
import TaskControlTesting
import TestSupport
import Testing

// A lease server, a store, and workers that increment a number in the store while they hold the lease. The classic mistake is to believe
// that a valid lease protects a write: the worker is paused, or its write is slow, and the lease has expired when the write arrives.

/// Asks for the lease, or renews it.
private struct Acquire: SimulatedNetwork.Request {
    struct Reply {
        /// The fencing token: greater with each new holder.
        let token: Int
    }

    let holder: String
}

private struct ReadNumber: SimulatedNetwork.Request {
    typealias Reply = Int

    let token: Int
}

private struct WriteNumber: SimulatedNetwork.Request {
    typealias Reply = Void

    let number: Int
    let token: Int
}

private struct LeaseHeldError: Error {}
private struct StaleTokenError: Error {}

/// Grants one lease, by its own clock. A granted lease survives a crash.
private actor LeaseServer {
    static let ttl = Duration.milliseconds(200)

    private let process: SimulatedNetwork.Process

    init(_ process: SimulatedNetwork.Process) {
        self.process = process
        process.handle(Acquire.self) { try await self.acquire($0.holder) }
    }

    private func acquire(_ holder: String) async throws -> Acquire.Reply {
        let (now, disk) = (process.clock.now.offset, process.disk)
        let token = disk.read("token") ?? 0
        if (disk.read("expiry") ?? now) > now, disk.read("holder", as: String.self) != holder { throw LeaseHeldError() }
        // A holder whose lease has expired gets a new token too: it may have been paused.
        let isRenewal = (disk.read("expiry") ?? now) > now
        let next = isRenewal ? token : token + 1
        disk.write(next, for: "token")
        disk.write(holder, for: "holder")
        disk.write(now + Self.ttl, for: "expiry")
        try await disk.sync()
        return Acquire.Reply(token: next)
    }
}

/// Holds the number. With `checksTokens` it refuses those of earlier holders, in reads too: a later holder may have read before an earlier one
/// writes.
private actor Store {
    private let disk: SimulatedNetwork.Disk
    private let checksTokens: Bool

    init(_ process: SimulatedNetwork.Process, checksTokens: Bool) {
        (disk, self.checksTokens) = (process.disk, checksTokens)
        process.handle(ReadNumber.self) { try await self.read(token: $0.token) }
        process.handle(WriteNumber.self) { try await self.write($0.number, token: $0.token) }
    }

    private func check(_ token: Int) throws {
        if checksTokens, token < disk.read("token") ?? 0 { throw StaleTokenError() }
        disk.write(token, for: "token")
    }

    private func read(token: Int) async throws -> Int {
        try check(token)
        let number = disk.read("number") ?? 0
        try await disk.sync()
        return number
    }

    private func write(_ number: Int, token: Int) async throws {
        try check(token)
        disk.write(number, for: "number")
        try await disk.sync()
    }
}

/// Increments the number four times, and counts on its disk which increments the store has acknowledged.
private func work(_ process: SimulatedNetwork.Process) async throws {
    let clock = process.clock
    func ask<Message: SimulatedNetwork.Request>(_ message: Message, _ node: String) async throws -> Message.Reply {
        try await withTimeout(.milliseconds(600), clock: clock) { try await process.send(message, to: node) }
    }
    while (process.disk.read("done") ?? 0) < 4 {
        do {
            // Valid from before the request, on a clock that may be 5 % slow while that of the server is 5 % fast.
            let end = clock.now.advanced(by: LeaseServer.ttl * 0.9)
            let token = try await ask(Acquire(holder: process.name), "leases").token
            let number = try await ask(ReadNumber(token: token), "store")
            guard clock.now < end else { continue }
            try await ask(WriteNumber(number: number + 1, token: token), "store")
            process.disk.write((process.disk.read("done") ?? 0) + 1, for: "done")
            // Leaves the lease to the other worker.
            try await clock.sleep(for: LeaseServer.ttl)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            try await clock.sleep(for: .milliseconds(60))
        }
    }
    process.disk.write(true, for: "isFinished")
}

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct LeaseSimulationTests {
    private static func increment(
        _ sim: Simulation,
        checksTokens: Bool,
        _ faults: Set<SimulatedNetwork.InjectedFault>,
        on victims: [String]
    ) async throws {
        let network = SimulatedNetwork(
            in: sim,
            latency: .milliseconds(1) ... .milliseconds(10),
            faults: .init(lostRequests: 0.02, lostReplies: 0.02, duplicates: 0.05),
            clockRates: 0.95...1.05
        )
        network.addNode("leases", losesUnsyncedWrites: true) { process in _ = LeaseServer(process) }
        network.addNode("store", losesUnsyncedWrites: true) { process in _ = Store(process, checksTokens: checksTokens)
        }
        let workers = ["a", "b"].map { name in
            network.addNode(name) { process in process.addTask { try await work(process) } }
        }
        try await network.run {
            try await network.injectFaults(
                faults,
                count: 8,
                within: .seconds(1.5),
                lasting: .milliseconds(200) ... .milliseconds(500),
                on: victims
            )
            // All is healed: the workers come to an end.
            for worker in workers {
                while worker.disk.read("isFinished") != true { try await Task.sleep(for: .milliseconds(100)) }
            }
        }
        let done = workers.map { $0.disk.read("done") ?? 0 }.reduce(0, +)
        let number = network.node("store").disk.read("number") ?? 0
        let lost = "no acknowledged increment is lost: \(number) of \(done)"
        sim.expect(number >= done, "\(lost)\n\(network.events.map(\.description).joined(separator: "\n"))")
    }

    @Test func aLeaseWithoutFencingTokenLosesAnUpdate() async throws {
        let failure = try await offThePool {
            try #require(throws: Simulation.Failure.self) {
                // Seed by seed, without the search for a shorter schedule, which would take longer.
                for seed in 0..<2_000 as Range<UInt64> {
                    try simulate(seed: seed) { sim in
                        try await Self.increment(sim, checksTokens: false, [.pause, .partition], on: ["a", "b"])
                    }
                }
            }
        }
        guard case .expectation(let message, _) = failure.reason else { throw failure }
        #expect(message.hasPrefix("no acknowledged increment is lost"))
        #expect(message.contains("pause: ") || message.contains("partition: "), "\(message)")
    }

    @Test(arguments: [
        Set([SimulatedNetwork.InjectedFault.pause, .partition]), Set(SimulatedNetwork.InjectedFault.allCases),
    ])
    func aFencingTokenThatTheStoreChecksLosesNone(_ faults: Set<SimulatedNetwork.InjectedFault>) async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(1_000, inDebug: 10)) { sim in
                try await Self.increment(sim, checksTokens: true, faults, on: ["a", "b", "leases", "store"])
            }
        }
    }
}
