import Foundation
import TaskControl
import TaskControlFleet
import TaskControlTesting

/// A simulated network with a cluster, a resource and processes that use leases, and the record of their holders.
final class FleetWorld: Sendable {
    /// A lease that the body of a process has received.
    struct Tenure: Sendable {
        let lease: Lease
        let process: SimulatedNetwork.Process
        /// The time at which the body began.
        let time: Duration
    }

    private struct Record {
        var tenures: [Tenure] = []
        /// The times at which callers that wait have called, by process and name.
        var callers: [String: Duration] = [:]
        /// The number of requests to write.
        var requests = 0
        /// The increments that the resource, or the store, has acknowledged, by name.
        var increments: [String: Int] = [:]
        var guardedIncrements: [String: Int] = [:]
    }

    let sim: Simulation
    let program: FleetProgram
    let network: SimulatedNetwork
    let cluster: SimulatedCluster
    private let resource: FleetResource
    private let record = Locked(Record())
    /// The processes whose bodies have begun.
    let begun = OrderRecorder<String>()
    /// Wraps the store of each process: a planted bug does.
    private let wrap: @Sendable (any StoreOperations, SimulatedNetwork.Process) -> any StoreOperations

    static let latency = Duration.milliseconds(1) ... .milliseconds(8)

    init(
        _ sim: Simulation,
        _ program: FleetProgram,
        wrap: @escaping @Sendable (any StoreOperations, SimulatedNetwork.Process) -> any StoreOperations = {
            store,
            _ in store
        }
    ) {
        (self.sim, self.program, self.wrap) = (sim, program, wrap)
        network = SimulatedNetwork(
            in: sim,
            latency: Self.latency,
            faults: program.losses,
            clockRates: program.clocks.rates
        )
        cluster = SimulatedCluster(members: program.members, isSilent: program.isSilent)
        let record = record
        resource = FleetResource { name, token in
            // With clocks within the bound, a resource refuses no process whose lease is valid.
            guard program.clocks != .wild else { return }
            let refused = record.withLock { $0.tenures.first { $0.lease.name == name && $0.lease.token == token } }
            guard let refused else { return }
            sim.expect(
                !(refused.process.isRunning && refused.lease.isValid),
                "the token \(token) of a valid lease is refused"
            )
        }
        cluster.addNodes(to: network)
        resource.addNode(to: network)
        for (index, operations) in program.processes.enumerated() {
            network.addNode("process \(index)") { [self] process in
                process.addTask { await self.run(operations, process) }
            }
            // A connection delivers a request once, or not at all.
            let losses = program.losses
            let faults = SimulatedNetwork.Faults(
                errors: losses.errors,
                lostRequests: losses.lostRequests,
                lostReplies: losses.lostReplies
            )
            for member in cluster.members {
                network.setLink(from: "process \(index)", to: member, faults: faults)
                guard program.hasSlowReplies, index == 0 else { continue }
                network.setLink(from: member, to: "process 0", latency: .milliseconds(15) ... .milliseconds(30))
            }
        }
    }

    /// Returns the store of a process.
    func store(_ process: SimulatedNetwork.Process) -> any StoreOperations {
        let store = NetworkStore(
            process,
            cluster,
            limit: program.timeToLive / 5,
            strayRenewals: program.strayRenewals,
            random: sim.random
        )
        return wrap(store, process)
    }

    // MARK: Running

    /// Runs the program with its faults, and then checks that all ends well.
    func run() async throws {
        try await network.run {
            async let faults: Void = network.injectFaults(
                program.kinds,
                count: program.faultCount,
                within: .seconds(1),
                lasting: .milliseconds(20) ... .milliseconds(700)
            )
            async let elections: Void = elect()
            async let deletions: Void = delete()
            try await faults
            try await elections
            try await deletions
            // All is healed: the processes come to their end.
            for index in program.processes.indices {
                let node = network.node("process \(index)")
                // Messages are still lost, and a program in which each step fails with them can need many leases.
                for _ in 0..<2_000 where node.disk.read("isFinished") != true {
                    try await Task.sleep(for: .milliseconds(100))
                }
                sim.expect(node.disk.read("isFinished") == true, "\(node.name) has finished\n\(events)")
            }
            // Longer than any lease at any rate.
            try await Task.sleep(for: program.timeToLive * 3)
            try await finish()
        }
    }

    private func finish() async throws {
        let (increments, guarded) = record.withLock { ($0.increments, $0.guardedIncrements) }
        for (name, count) in increments {
            let value = resource.value(of: name)
            sim.expect(value >= count, "no acknowledged increment is lost: \(value) of \(count)\n\(events)")
        }
        // A request, so that the leases that have expired end.
        let entries = try await cluster.read(from: network)
        for (name, count) in guarded {
            let value = entries.first { $0.key == "number/\(name)" }.map { Self.number($0.value) } ?? 0
            sim.expect(value >= count, "no guarded increment is lost: \(value) of \(count)\n\(events)")
        }
        let left = entries.map(\.key).filter { !$0.hasPrefix("number/") }
        sim.expect(left.isEmpty, "no entry is left behind: \(left)\n\(events)")
    }

    private func elect() async throws {
        var random = sim.random
        for _ in 0..<program.elections {
            try await Task.sleep(for: .milliseconds(Int.random(in: 10...500, using: &random)))
            let member = Int.random(in: 0..<program.members, using: &random)
            cluster.elect(member, clock: network.node(cluster.members[member]).clock)
            sim.note("\(cluster.members[member]) is the leader of term \(cluster.term)")
        }
    }

    private func delete() async throws {
        var random = sim.random
        for _ in 0..<program.deletions {
            try await Task.sleep(for: .milliseconds(Int.random(in: 10...500, using: &random)))
            if let key = cluster.deleteWaiter({ Int.random(in: 0..<$0, using: &random) }) {
                sim.note("\(key) is deleted")
            }
        }
    }

    var events: String { network.events.map(\.description).joined(separator: "\n") }

    // MARK: Processes

    private func run(_ operations: [FleetProgram.Operation], _ process: SimulatedNetwork.Process) async {
        let store = store(process)
        // After a crash it continues with the next operation.
        while let next = Optional(process.disk.read("next") ?? 0), next < operations.count, process.isRunning {
            process.disk.write(next + 1, for: "next")
            switch operations[next] {
            case .sleep(let time): try? await process.clock.sleep(for: .milliseconds(time))
            case .lease(let name, let steps, let cancelledAfter):
                let task = Task { await self.hold("lease \(name)", steps, store, process) }
                let canceller = cancelledAfter.map { time in
                    Task {
                        try? await process.clock.sleep(for: .milliseconds(time))
                        task.cancel()
                    }
                }
                await withTaskCancellationHandler {
                    await task.value
                } onCancel: {
                    task.cancel()
                }
                canceller?.cancel()
            }
        }
        process.disk.write(true, for: "isFinished")
    }

    private func hold(
        _ name: String,
        _ steps: [FleetProgram.Step],
        _ store: any StoreOperations,
        _ process: SimulatedNetwork.Process
    ) async {
        for _ in 0..<20 where !Task.isCancelled && process.isRunning {
            let caller = "\(process.name) \(name)"
            let now = sim.now
            record.withLock { $0.callers[caller] = now }
            defer { record.withLock { $0.callers[caller] = nil } }
            do {
                return try await withLease(
                    name,
                    in: store,
                    timeToLive: program.timeToLive,
                    holder: process.name,
                    clock: process.clock
                ) { lease in
                    self.began(lease, process)
                    for step in steps { try await self.perform(step, lease, store, process) }
                    self.check(lease)
                }
            } catch is StoreError {
                // The line could not be entered.
                try? await process.clock.sleep(for: program.timeToLive / 2)
            } catch {
                return
            }
        }
    }

    private func perform(
        _ step: FleetProgram.Step,
        _ lease: Lease,
        _ store: any StoreOperations,
        _ process: SimulatedNetwork.Process
    ) async throws {
        check(lease)
        let clock = process.clock
        switch step {
        case .work(let time): try await clock.sleep(for: .milliseconds(time))
        case .stubbornWork(let time): await Task { try? await clock.sleep(for: .milliseconds(time)) }.value
        case .increment:
            // Without a look at the validity: the tokens alone protect the number.
            let (name, token) = (lease.name, lease.token)
            try await withTimeout(program.timeToLive / 2, clock: clock) {
                let number = try await process.send(ReadNumber(name: name, token: token), to: "resource")
                let write = WriteNumber(name: name, token: token, number: number + 1, id: self.nextRequest())
                try await process.send(write, to: "resource")
            }
            record.withLock { $0.increments[name, default: 0] += 1 }
        case .guardedIncrement:
            let key = "number/\(lease.name)"
            let number = try await store.read(.key(key)).entries.first.map { Self.number($0.value) } ?? 0
            let put = StoreTransaction(success: [.put(key, Data("\(number + 1)".utf8))])
            if try await store.transact(lease.guarded(put)).succeeded {
                record.withLock { $0.guardedIncrements[lease.name, default: 0] += 1 }
            }
        }
    }

    private func nextRequest() -> Int {
        record.withLock { record in
            record.requests += 1
            return record.requests
        }
    }

    private static func number(_ value: Data) -> Int { Int(String(decoding: value, as: UTF8.self)) ?? 0 }

    // MARK: Invariants

    /// All leases that were held so far, in the order in which their bodies began.
    var tenures: [Tenure] { record.withLock(\.tenures) }

    /// A body has begun.
    func began(_ lease: Lease, _ process: SimulatedNetwork.Process) {
        sim.note("\(process.name) has \(lease.name) with token \(lease.token)")
        let tenure = Tenure(lease: lease, process: process, time: sim.now)
        let (earlier, called, waiting) = record.withLock { record in
            let earlier = record.tenures.filter { $0.lease.name == lease.name }
            record.tenures.append(tenure)
            let called = record.callers.removeValue(forKey: "\(process.name) \(lease.name)")
            return (earlier, called, record.callers.filter { $0.key.hasSuffix(" \(lease.name)") }.map(\.value))
        }
        begun.record(process.name)
        sim.expect(!earlier.contains { $0.lease.token == lease.token }, "each tenure has a token of its own\n\(events)")
        check(lease)
        guard program.isCalm, let called else { return }
        sim.expect(!earlier.contains { $0.lease.token > lease.token }, "tokens increase")
        // Two round trips enter the line: a caller that comes later than that is behind.
        let entering = Self.latency.upperBound * 4
        sim.expect(!waiting.contains { $0 + entering < called }, "the first caller is the first holder")
    }

    /// Expects that no other lease of the name is valid now, if this one is.
    func check(_ lease: Lease) {
        guard program.clocks != .wild, lease.isValid else { return }
        let valid = tenures.filter { $0.lease.name == lease.name && $0.process.isRunning && $0.lease.isValid }
        sim.expect(
            valid.count <= 1,
            "one lease is valid at a time: \(valid.map { "\($0.process.name) with token \($0.lease.token)" })\n\(events)"
        )
    }
}
