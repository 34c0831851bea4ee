import Foundation
import TaskControlFleet
import TaskControlTesting

/// One run: the processes, the faults, and the check.
final class Run {
    let workerCount: Int
    private let store: StoreArguments
    private let seconds: Int
    private let folder: URL
    private let checksTokens: Bool
    private var random: SeededGenerator
    private let list: ProcessList
    private let cluster: EtcdCluster?
    private let history = History()
    private var workers: [Int: ChildProcess] = [:]
    private var nextWorker = 0
    private var counts: [Fault.Kind: Int] = [:]
    private var crashed: [Int] = []
    private var unreadOutputs: [Int] = []

    init(
        store: StoreArguments,
        workers: Int,
        seconds: Int,
        seed: UInt64,
        folder: URL,
        checksTokens: Bool
    ) throws {
        (self.store, workerCount, self.seconds, self.folder) = (store, workers, seconds, folder)
        self.checksTokens = checksTokens
        random = SeededGenerator(seed: seed)
        list = ProcessList(folder.appendingPathComponent("processes"))
        cluster = store.sqlite == nil ? try EtcdCluster(folder: folder, list: list) : nil
    }

    func perform() async throws -> Verdict {
        try await cluster?.waitForLeader(seconds: 30)
        for _ in 0..<workerCount { try startWorker() }
        try await pause(2_000)
        // Without tokens, those that lose updates: a holder that is stopped between reading and writing.
        let faults =
            checksTokens
            ? Fault.ofWorkers + (cluster == nil ? [] : Fault.ofMembers) : [.stopHolder(.store), .killWorker]
        // Each fault once, in a random order, and then again.
        var line: [Fault] = []
        let expected = seconds < Conditions.secondsForAllFaults ? [] : Set(faults.map(\.kind))
        let end = Record.now + UInt64(seconds) * 1_000_000_000
        // A short run takes longer, until each kind has happened. A kind that does not happen by then is a mistake of the run.
        let latest = end + 60_000_000_000
        while Record.now < end || (Record.now < latest && !expected.allSatisfy { counts[$0] != nil }) {
            if line.isEmpty { line = Fault.line(of: faults, using: &random).reversed() }
            let fault = line.removeLast()
            if try await cause(fault) { counts[fault.kind, default: 0] += 1 }
            for _ in removeCrashed() { try startWorker() }
            try await pause(.random(in: 300...1_500, using: &random))
        }
        // Without faults, the workloads continue.
        try await cluster?.waitForLeader(seconds: 30)
        try await pause(4_000)
        removeCrashed()
        endWorkers()
        // Requests that were on their way.
        try await pause(1_000)
        let conditions = Conditions(
            crashed: crashed,
            faults: counts,
            expectedFaults: Fault.Kind.allCases.filter(expected.contains),
            unknownConnections: cluster?.proxy.unknown ?? 0,
            brokenLines: history.brokenLines,
            unreadOutputs: unreadOutputs
        )
        return Verdict(history.records, conditions, file: fileElements(), store: try await storeElements())
    }

    /// Ends all processes.
    func end() {
        endWorkers()
        cluster?.end()
    }

    // MARK: Workers

    private var file: URL { folder.appendingPathComponent("set") }

    private func startWorker() throws {
        let number = nextWorker
        nextWorker += 1
        let history = history
        workers[number] = try ChildProcess(
            URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL,
            ["worker", "--number", "\(number)", "--file", file.path] + (checksTokens ? [] : ["--unguarded"])
                + store.arguments(etcd: cluster?.endpoints ?? []),
            in: list
        ) { line in history.add(line: line) }
    }

    /// Removes the workers that have ended by themselves.
    @discardableResult
    private func removeCrashed() -> [Int] {
        let ended = workers.filter { !$0.value.isRunning }.keys.sorted()
        for number in ended { end(number) }
        crashed += ended
        return ended
    }

    private func endWorkers() { for number in workers.keys { end(number) } }

    /// Ends a worker, unless it has ended, and waits for its last records.
    private func end(_ number: Int) {
        if workers.removeValue(forKey: number)?.end() == false { unreadOutputs.append(number) }
        history.forget(number)
    }

    // MARK: Faults

    /// Causes a fault and ends it.
    ///
    /// - Returns: Whether it has happened.
    private func cause(_ fault: Fault) async throws -> Bool {
        switch fault {
        case .stopHolder(let workload):
            // Soon after it has begun: in the middle of reading and writing.
            guard let number = try await holder(of: workload), let worker = workers[number] else { return false }
            worker.signal(SIGSTOP)
            try await pause(5_000)
            worker.signal(SIGCONT)
        case .killWorker:
            guard let number = workers.keys.sorted().randomElement(using: &random) else { return false }
            end(number)
            try startWorker()
        case .stopMember(let leader):
            guard let cluster, let member = try await member(leader) else { return false }
            cluster.signal(member, SIGSTOP)
            try await pause(5_000)
            cluster.signal(member, SIGCONT)
        case .killMember(let leader):
            guard let cluster, let member = try await member(leader) else { return false }
            cluster.kill(member)
            try await pause(2_000)
            try cluster.start(member)
        case .isolate(let leader):
            guard let cluster, let member = try await member(leader) else { return false }
            let others = cluster.indices.filter { $0 != member }
            try await partition(others.flatMap { [.init(from: member, to: $0), .init(from: $0, to: member)] })
        case .deafen(let leader):
            guard let cluster, let member = try await member(leader) else { return false }
            let others = cluster.indices.filter { $0 != member }
            try await partition(others.map { .init(from: $0, to: member) })
        case .cut:
            guard let cluster else { return false }
            let pair = cluster.indices.shuffled(using: &random).prefix(2)
            try await partition([.init(from: pair[0], to: pair[1]), .init(from: pair[1], to: pair[0])])
        }
        return true
    }

    private func partition(_ links: [PeerProxy.Link]) async throws {
        cluster?.proxy.block(Set(links))
        try await pause(5_000)
        cluster?.proxy.block([])
    }

    /// Returns the leader, as soon as there is one, or any member.
    private func member(_ leader: Bool) async throws -> Int? {
        guard leader else { return cluster?.indices.randomElement(using: &random) }
        for _ in 0..<50 {
            if let leader = await cluster?.leader() { return leader }
            try await pause(100)
        }
        return nil
    }

    private func holder(of workload: Record.Workload) async throws -> Int? {
        for _ in 0..<500 {
            if let holder = history.holder(of: workload) { return holder }
            try await pause(10)
        }
        return nil
    }

    private func pause(_ milliseconds: Int) async throws { try await Task.sleep(for: .milliseconds(milliseconds)) }

    // MARK: Results

    private func fileElements() -> [String] {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    private func storeElements() async throws -> [String] {
        var arguments = store
        arguments.etcd = cluster?.endpoints.joined(separator: ",")
        let value = try await arguments.makeStore().value(for: Worker.setKey) ?? Data()
        return String(decoding: value, as: UTF8.self).split(separator: ",").map(String.init)
    }
}
