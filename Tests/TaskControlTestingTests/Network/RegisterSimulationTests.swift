import TaskControl
import TaskControlTesting
import TestSupport
import Testing

// A register that is replicated on three nodes, of which any two are a quorum: H. Attiya, A. Bar-Noy, D. Dolev, "Sharing Memory Robustly in
// Message-Passing Systems", J. ACM 42(1), 1995. A read writes back what it has found. Without that, a later read may find an older value.

private struct Version: Comparable, Sendable {
    var number = 0
    var writer = ""
    var value = 0

    static func < (one: Version, other: Version) -> Bool {
        (one.number, one.writer) < (other.number, other.writer)
    }
}

private struct Query: SimulatedNetwork.Request { typealias Reply = Version }

private struct Update: SimulatedNetwork.Request {
    typealias Reply = Void

    let version: Version
}

private let replicas = ["r0", "r1", "r2"]

@Sendable private func replica(_ process: SimulatedNetwork.Process) {
    process.handle(Query.self) { _ in process.disk.read("version") ?? Version() }
    process.handle(Update.self) { update in
        if update.version <= process.disk.read("version") ?? Version() { return }
        process.disk.write(update.version, for: "version")
        try await process.disk.sync()
    }
}

private struct Register {
    let process: SimulatedNetwork.Process
    let writesBack: Bool

    /// The first replies of a quorum. Asks again what is lost.
    private func quorum<Message: SimulatedNetwork.Request>(_ message: Message) async throws -> [Message.Reply] {
        try await withThrowingTaskGroup { group in
            for replica in replicas {
                group.addTask {
                    while true {
                        do {
                            return try await withTimeout(.milliseconds(300), clock: process.clock) {
                                try await process.send(message, to: replica)
                            }
                        } catch is TimeoutError {}
                    }
                }
            }
            var replies: [Message.Reply] = []
            while replies.count < 2, let reply = try await group.next() { replies.append(reply) }
            group.cancelAll()
            return replies
        }
    }

    func read() async throws -> Int {
        let latest = try await quorum(Query()).max()!
        if writesBack { _ = try await quorum(Update(version: latest)) }
        return latest.value
    }

    func write(_ value: Int) async throws {
        let latest = try await quorum(Query()).max()!
        let version = Version(number: latest.number + 1, writer: process.name, value: value)
        _ = try await quorum(Update(version: version))
    }
}

/// An operation of a client, in the order of calls and returns.
private struct Call: Sendable {
    enum Kind: Sendable {
        case read(Int)
        case write(Int)
    }

    let kind: Kind
    let start: Int
    let end: Int

    /// Whether there is an order of the calls that keeps to their time, in which each read returns what was written before it.
    static func areLinearizable(_ calls: [Call], value: Int = 0) -> Bool {
        guard let firstEnd = calls.map(\.end).min() else { return true }
        for (index, call) in calls.enumerated() where call.start < firstEnd {
            var rest = calls
            rest.remove(at: index)
            switch call.kind {
            case .read(let found): if found == value, areLinearizable(rest, value: value) { return true }
            case .write(let written): if areLinearizable(rest, value: written) { return true }
            }
        }
        return false
    }
}

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct RegisterSimulationTests {
    /// Two clients read while a third writes.
    private static func readAndWrite(_ sim: Simulation, writesBack: Bool) async throws {
        let network = SimulatedNetwork(
            in: sim,
            latency: .milliseconds(1) ... .milliseconds(50),
            faults: .init(lostRequests: 0.02, lostReplies: 0.02, duplicates: 0.02)
        )
        for name in replicas { network.addNode(name, losesUnsyncedWrites: true, replica) }
        let (moments, calls) = (OrderRecorder<Void>(), OrderRecorder<Call>())
        for client in ["writer", "reader 1", "reader 2"] {
            network.addNode(client) { process in
                let register = Register(process: process, writesBack: writesBack)
                process.addTask {
                    for number in 1...(client == "writer" ? 2 : 4) {
                        moments.record(())
                        let start = moments.count
                        var kind = Call.Kind.write(number)
                        if client == "writer" {
                            try await register.write(number)
                        } else {
                            kind = .read(try await register.read())
                        }
                        moments.record(())
                        calls.record(Call(kind: kind, start: start, end: moments.count))
                    }
                }
            }
        }
        try await network.run {
            try await network.injectFaults(
                count: 6,
                within: .milliseconds(200),
                lasting: .milliseconds(100) ... .milliseconds(300),
                on: replicas
            )
            while calls.count < 10 { try await Task.sleep(for: .milliseconds(50)) }
        }
        sim.expect(Call.areLinearizable(calls.events), "linearizable: \(calls.events)")
    }

    @Test func readsThatWriteBackAreLinearizable() async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(1_000, inDebug: 10)) {
                try await Self.readAndWrite($0, writesBack: true)
            }
        }
    }

    @Test func aReadThatDoesNotWriteBackIsFound() async throws {
        let failure = try await offThePool {
            try #require(throws: Simulation.Failure.self) {
                // Seed by seed, without the search for a shorter schedule, which would take longer.
                for seed in 0..<2_000 as Range<UInt64> {
                    try simulate(seed: seed) { try await Self.readAndWrite($0, writesBack: false) }
                }
            }
        }
        guard case .expectation(let message, _) = failure.reason else { throw failure }
        #expect(message.hasPrefix("linearizable"))
    }

    @Test func theCheckOfHistoriesTellsAnOlderValueAfterANewerOne() {
        let write = Call(kind: .write(1), start: 1, end: 10)
        func reads(_ one: Int, _ two: Int) -> [Call] {
            [write, Call(kind: .read(one), start: 2, end: 3), Call(kind: .read(two), start: 4, end: 5)]
        }
        #expect(Call.areLinearizable(reads(0, 0)) && Call.areLinearizable(reads(0, 1)))
        #expect(Call.areLinearizable(reads(1, 1)) && !Call.areLinearizable(reads(1, 0)))
    }
}
