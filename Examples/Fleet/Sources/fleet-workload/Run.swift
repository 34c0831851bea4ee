import Foundation
import TaskControlFleet

/// One run: the processes, the faults, and the check.
final class Run {
    let workerCount: Int
    private let store: StoreArguments
    private let seconds: Int
    private let folder: URL
    private let checksTokens: Bool
    private var random: SplitMix
    private let cluster: EtcdCluster?
    private let history = History()
    private var workers: [Int: ChildProcess] = [:]
    private var nextWorker = 0
    private var counts: [String: Int] = [:]
    private var crashed: [Int] = []

    init(store: StoreArguments, workers: Int, seconds: Int, seed: UInt64, folder: URL, checksTokens: Bool) throws {
        (self.store, workerCount, self.seconds, self.folder) = (store, workers, seconds, folder)
        self.checksTokens = checksTokens
        random = SplitMix(state: seed)
        cluster = store.sqlite == nil ? try EtcdCluster(folder: folder) : nil
    }

    func perform() async throws -> Verdict {
        try await cluster?.waitForLeader(seconds: 30)
        for _ in 0..<workerCount { try startWorker() }
        try await pause(2_000)
        let faults = Fault.ofWorkers + (cluster == nil ? [] : Fault.ofMembers)
        // Each fault once, in a random order, and then again.
        var line: [Fault] = []
        let end = Record.now + UInt64(seconds) * 1_000_000_000
        while Record.now < end {
            if line.isEmpty { line = faults.shuffled(using: &random) }
            try await cause(line.removeLast())
            for _ in removeCrashed() { try startWorker() }
            try await pause(.random(in: 500...2_500, using: &random))
        }
        // Without faults, the workloads continue.
        try await cluster?.waitForLeader(seconds: 30)
        try await pause(4_000)
        removeCrashed()
        endWorkers()
        // Requests that were on their way.
        try await pause(1_000)
        say("faults: " + counts.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", "))
        if let unknown = cluster?.proxy.unknown, unknown > 0 { say("connections of unknown members: \(unknown)") }
        return Verdict(history.records, crashed: crashed, file: fileElements(), store: try await storeElements())
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
        let (history, decoder) = (history, JSONDecoder())
        workers[number] = try ChildProcess(
            URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL,
            ["worker", "--number", "\(number)", "--file", file.path] + (checksTokens ? [] : ["--without-tokens"])
                + store.arguments(etcd: cluster?.endpoints ?? [])
        ) { line in
            if let record = try? decoder.decode(Record.self, from: line) { history.add(record) }
        }
        try writeProcesses()
    }

    /// Removes the workers that have ended by themselves.
    @discardableResult
    private func removeCrashed() -> [Int] {
        let ended = workers.filter { !$0.value.isRunning }.keys.sorted()
        for number in ended {
            workers[number] = nil
            history.forget(number)
        }
        crashed += ended
        return ended
    }

    private func endWorkers() {
        for (number, worker) in workers {
            worker.end()
            history.forget(number)
        }
        workers = [:]
    }

    /// Writes the numbers of all processes, for a script that must end them if this process is killed.
    private func writeProcesses() throws {
        let numbers = workers.values.map(\.number) + (cluster?.processes ?? [])
        let text = numbers.map { "\($0)\n" }.joined()
        try Data(text.utf8).write(to: folder.appendingPathComponent("processes"), options: .atomic)
    }

    // MARK: Faults

    private func cause(_ fault: Fault) async throws {
        switch fault {
        case .stopHolder(let workload):
            // Soon after it has begun: in the middle of reading and writing.
            guard let number = try await holder(of: workload), let worker = workers[number] else { return }
            count("stopped holder")
            worker.signal(SIGSTOP)
            try await pause(5_000)
            worker.signal(SIGCONT)
        case .killWorker:
            guard let number = workers.keys.sorted().randomElement(using: &random) else { return }
            count("killed worker")
            workers.removeValue(forKey: number)?.end()
            history.forget(number)
            try startWorker()
        case .stopMember(let leader):
            guard let cluster, let member = await member(leader) else { return }
            count(leader ? "stopped leader" : "stopped member")
            cluster.signal(member, SIGSTOP)
            try await pause(5_000)
            cluster.signal(member, SIGCONT)
        case .killMember(let leader):
            guard let cluster, let member = await member(leader) else { return }
            count(leader ? "killed leader" : "killed member")
            cluster.kill(member)
            try await pause(2_000)
            try cluster.start(member)
            try writeProcesses()
        case .isolate(let leader):
            guard let cluster, let member = await member(leader) else { return }
            let others = cluster.indices.filter { $0 != member }
            try await partition(
                leader ? "isolated leader" : "isolated member",
                others.flatMap { [.init(from: member, to: $0), .init(from: $0, to: member)] }
            )
        case .deafen(let leader):
            guard let cluster, let member = await member(leader) else { return }
            let others = cluster.indices.filter { $0 != member }
            try await partition(
                leader ? "deafened leader" : "deafened member",
                others.map { .init(from: $0, to: member) }
            )
        case .cut:
            guard let cluster else { return }
            let pair = cluster.indices.shuffled(using: &random).prefix(2)
            try await partition("cut link", [.init(from: pair[0], to: pair[1]), .init(from: pair[1], to: pair[0])])
        }
    }

    private func partition(_ name: String, _ links: [PeerProxy.Link]) async throws {
        count(name)
        cluster?.proxy.block(Set(links))
        try await pause(5_000)
        cluster?.proxy.block([])
    }

    /// The leader, or any member.
    private func member(_ leader: Bool) async -> Int? {
        let found = await cluster?.leader()
        return leader ? found : cluster?.indices.randomElement(using: &random)
    }

    private func holder(of workload: Record.Workload) async throws -> Int? {
        for _ in 0..<500 {
            if let holder = history.holder(of: workload) { return holder }
            try await pause(10)
        }
        return nil
    }

    private func count(_ fault: String) { counts[fault, default: 0] += 1 }

    private func pause(_ milliseconds: Int) async throws { try await Task.sleep(for: .milliseconds(milliseconds)) }

    // MARK: Results

    private func fileElements() -> [String] {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    private func storeElements() async throws -> [String] {
        var arguments = store
        arguments.etcd = cluster?.endpoints.joined(separator: ",")
        let value = try await arguments.makeStore().read(.key(Worker.setKey)).entries.first?.value ?? Data()
        return String(decoding: value, as: UTF8.self).split(separator: ",").map(String.init)
    }
}

/// The choice of the faults, which a seed repeats (S. Vigna, splitmix64).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
