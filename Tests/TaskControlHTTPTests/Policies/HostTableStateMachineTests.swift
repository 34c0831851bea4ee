import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct HostTableStateMachineTests {
    /// Every short sequence of events agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [
        (hosts: 2, judged: 2, depth: fullSize(11, inDebug: 6)),
        (hosts: 3, judged: 1, depth: fullSize(9, inDebug: 5)),
    ])
    func everyShortSequenceAgreesWithTheModel(hosts: Int, judged: Int, depth: Int) {
        let steps = HostTableDriver().playEverySequence(upTo: depth) {
            $0.possibleEvents(hosts: hosts, judged: judged)
        }
        #expect(steps > 1_000)
    }

    @Test(arguments: Schedules.seeds(40, inDebug: 8))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = HostTableDriver()
        for _ in 0..<1_000 {
            driver.play(driver.possibleEvents(hosts: 12, judged: 3).randomElement(using: &random)!)
        }
    }
}

private enum HostTableEvent: Hashable {
    case use(String), borrow(String), giveBack(String)
    case examine(HostTableStateMachine<String>.Queue, downTo: Int)
    /// Settles an entry that is being judged.
    case settle(Int, HostValueUse)
}

/// Lists of hosts that are searched through for each answer: what the machine must do.
private struct HostTableModel: Hashable {
    struct Judged: Hashable {
        let host: String
        let queue: HostTableStateMachine<String>.Queue
        let limit: Int
        /// Whether the entry was used since it was taken out of its queue.
        var wasUsed = false
    }

    var hosts: Set<String> = []
    var borrowers: [String: Int] = [:]
    /// Both in the order in which they are examined.
    var (idle, used): ([String], [String]) = ([], [])
    var judged: [Judged] = []

    mutating func use(_ host: String) {
        hosts.insert(host)
        idle.removeAll { $0 == host }
        used.removeAll { $0 == host }
        for index in judged.indices where judged[index].host == host { judged[index].wasUsed = true }
        if borrowers[host] == nil { idle.append(host) }
    }
}

/// Plays events to the machine and to the model, and compares what they answer. The value of a host is its name.
private struct HostTableDriver: MachineDriver {
    private var machine = HostTableStateMachine<String>()
    private var model = HostTableModel()
    private var places: [String: HostTableStateMachine<String>.Place] = [:]
    private var candidates: [HostTableStateMachine<String>.Candidate] = []

    var signature: Int { model.hashValue }

    func possibleEvents(hosts: Int, judged: Int) -> [HostTableEvent] {
        let names = (0..<hosts).map { "\($0)" }
        var events = names.flatMap { [HostTableEvent.use($0), .borrow($0)] }
        events += model.borrowers.keys.sorted().map { .giveBack($0) }
        if model.judged.count < judged {
            for queue in HostTableStateMachine<String>.Queue.allCases {
                events += [0, 1].map { .examine(queue, downTo: $0) }
            }
        }
        for index in model.judged.indices { events += HostValueUse.allCases.map { .settle(index, $0) } }
        return events
    }

    mutating func play(_ event: HostTableEvent) {
        switch event {
        case .use(let host): use(host, isBorrowed: false)
        case .borrow(let host): use(host, isBorrowed: true)
        case .giveBack(let host):
            let count = model.borrowers[host]! - 1
            model.borrowers[host] = count == 0 ? nil : count
            model.use(host)
            let entries = machine.giveBack(places[host]!)
            #expect(entries == model.hosts.count)
        case .examine(let queue, let limit): examine(queue, limit)
        case .settle(let index, let use): settle(index, use)
        }
        #expect(machine.hosts == model.hosts)
        #expect(machine.hosts(in: .idle) == model.idle && machine.hosts(in: .used) == model.used)
        let judged = model.judged.filter { !$0.wasUsed }
        machine.checkInvariants(borrowed: Set(model.borrowers.keys), judged: Set(judged.map(\.host)))
    }

    private mutating func use(_ host: String, isBorrowed: Bool) {
        let isKnown = model.hosts.contains(host)
        if isBorrowed { model.borrowers[host, default: 0] += 1 }
        model.use(host)
        let used = machine.use(host, isBorrowed: isBorrowed)
        #expect((used != nil) == isKnown)
        let (value, place) = used ?? machine.add(host, host, isBorrowed: isBorrowed)
        #expect(value == host)
        if model.borrowers[host, default: 0] > 1 { #expect(places[host] == place, "a borrowed entry keeps its place") }
        places[host] = place
    }

    private mutating func examine(_ queue: HostTableStateMachine<String>.Queue, _ limit: Int) {
        let first = queue == .idle ? model.idle.first : model.used.first
        let candidate = machine.examine(queue, downTo: limit)
        guard let first, model.hosts.count > limit else { return #expect(candidate == nil) }
        #expect(candidate?.value == first)
        guard let candidate else { return }
        candidates.append(candidate)
        if queue == .idle { model.idle.removeFirst() } else { model.used.removeFirst() }
        model.judged.append(.init(host: first, queue: queue, limit: limit))
    }

    private mutating func settle(_ index: Int, _ use: HostValueUse) {
        let judged = model.judged.remove(at: index)
        let evicted = machine.settle(candidates.remove(at: index), use)
        if judged.wasUsed { return #expect(evicted == nil, "an entry that was used in the meantime stays") }
        switch use {
        case .needed: model.idle.append(judged.host)
        case .used where judged.queue == .idle: model.used.append(judged.host)
        case .used, .unused:
            if model.hosts.count > judged.limit {
                model.hosts.remove(judged.host)
                return #expect(evicted == judged.host)
            }
            if judged.queue == .idle { model.idle.append(judged.host) } else { model.used.append(judged.host) }
        }
        #expect(evicted == nil)
    }
}
