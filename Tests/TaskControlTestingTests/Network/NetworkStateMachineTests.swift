import TestSupport
import Testing

@testable import TaskControlTesting

/// The machine of two nodes against records that say everything twice.
private struct NetworkDriver: MachineDriver {
    enum Event: Hashable {
        case start(Int), hasStarted(Incarnation), crash(Int), pause(Int), unpause(Int), change(Int)
        case enroll(Int), leave(Int, on: Int)
        case arm(Int, Strike), disarm(Int, Int), send(Incarnation)
        case partition([[Int]]), block(LinkID), heal
    }

    private struct Node: Hashable {
        var isUp = false
        var isStarting = false
        var isPaused = false
        var starts = 0
        /// The numbers of the waiters, in the order of their calls.
        var waiters: [Int] = []
        var strike: Strike.Kind?
        /// How many messages the strike still spares.
        var spares = 0
        var strikeNumber: Int?

        var standing: NetworkStateMachine.Standing { !isUp ? .ended : isStarting || isPaused ? .held : .runs }
    }

    private var machine = NetworkStateMachine()
    private var nodes = [Node(), Node()]
    private var lost: Set<LinkID> = []
    private var blocked: Set<LinkID> = []
    private var made = 0
    private var arms: Set<Int> = []
    private var hits = 0

    init() {
        for index in nodes.indices { #expect(machine.addNode() == index) }
    }

    /// With the counts of what has gone: that two states which differ only in those have one future is what is tested.
    var signature: Int { [nodes.hashValue, lost.hashValue, blocked.hashValue, made, arms.count, hits].hashValue }

    private var links: [LinkID] { [LinkID(from: 0, to: 1), LinkID(from: 1, to: 0)] }

    private var incarnations: [Incarnation] {
        nodes.indices.flatMap { node in
            (0..<nodes[node].starts).map { Incarnation(node: node, number: $0 + 1) }
        }
    }

    /// The second node only starts and crashes: the nodes do not know of each other.
    var lifecycle: [Event] {
        let first = nodes[0]
        return [.start(0), .crash(0), .pause(0), .unpause(0), .change(0), .enroll(0), .start(1), .crash(1)]
            + incarnations.map { .hasStarted($0) }
            + first.waiters.map { .leave($0, on: 0) }
    }

    var strikes: [Event] {
        let arms = [Strike(kind: .crash, spares: 0), Strike(kind: .pause, spares: 1)].map { Event.arm(0, $0) }
        let disarms = (0...3).map { Event.disarm(0, $0) }
        let ofProcesses = incarnations.flatMap { [Event.hasStarted($0), .send($0)] }
        return [.start(0), .crash(0), .pause(0), .unpause(0)] + arms + disarms + ofProcesses
    }

    var partitions: [Event] {
        [
            .start(1), .crash(1), .heal, .partition([]), .partition([[0]]), .partition([[1], [0]]),
            .partition([[0, 1]]),
        ]
            + links.map { .block($0) }
    }

    mutating func play(_ event: Event) {
        switch event {
        case .start(let node):
            if nodes[node].isUp {
                #expect(machine.start(node) == nil)
            } else {
                (nodes[node].isUp, nodes[node].isStarting) = (true, true)
                nodes[node].starts += 1
                #expect(machine.start(node) == Incarnation(node: node, number: nodes[node].starts))
            }
        case .hasStarted(let incarnation):
            let isCurrent = nodes[incarnation.node].isUp && nodes[incarnation.node].starts == incarnation.number
            let woken = isCurrent ? takeWaiters(incarnation.node) : []
            if isCurrent { nodes[incarnation.node].isStarting = false }
            #expect(machine.hasStarted(incarnation) == woken)
        case .crash(let node):
            let woken = nodes[node].isUp ? takeWaiters(node) : nil
            (nodes[node].isUp, nodes[node].isStarting, nodes[node].isPaused) = (false, false, false)
            #expect(machine.crash(node) == woken)
        case .pause(let node):
            let isChange = nodes[node].isUp && !nodes[node].isPaused
            if isChange { nodes[node].isPaused = true }
            #expect(machine.pause(node) == isChange)
        case .unpause(let node):
            let woken = nodes[node].isPaused ? takeWaiters(node) : nil
            nodes[node].isPaused = false
            #expect(machine.unpause(node) == woken)
        case .change(let node):
            #expect(machine.change(node) == takeWaiters(node))
        case .enroll(let node):
            let number = machine.enroll(on: node)
            #expect(number == made, "a number is not used again")
            nodes[node].waiters.append(number)
            made += 1
        case .leave(let number, let node):
            nodes[node].waiters.removeAll { $0 == number }
            #expect(machine.leave(number, on: node) == true)
            #expect(machine.leave(number, on: node) == false)
        case .arm(let node, let strike):
            let number = machine.arm(node, strike)
            #expect((number == nil) == (nodes[node].strike != nil))
            guard let number else { break }
            (nodes[node].strike, nodes[node].spares, nodes[node].strikeNumber) = (strike.kind, strike.spares, number)
            #expect(arms.insert(number).inserted, "a number is not used again")
        case .disarm(let node, let number):
            let isArmed = nodes[node].strikeNumber == number
            if isArmed { (nodes[node].strike, nodes[node].strikeNumber) = (nil, nil) }
            #expect(machine.disarm(node, number) == isArmed)
        case .send(let incarnation):
            let node = nodes[incarnation.node]
            let isRunning = node.starts == incarnation.number && node.standing == .runs
            let isHit = isRunning && node.spares == 0
            #expect(machine.isAboutToAct(incarnation) == (isHit ? node.strike : nil))
            if isHit {
                if node.strike != nil { hits += 1 }
                (nodes[incarnation.node].strike, nodes[incarnation.node].strikeNumber) = (nil, nil)
            }
            if isRunning, !isHit { nodes[incarnation.node].spares -= 1 }
        case .partition(let groups):
            machine.partition(groups)
            lost = groups == [[0]] || groups == [[1], [0]] ? Set(links) : []
        case .block(let link):
            machine.block(link)
            blocked.insert(link)
        case .heal:
            machine.heal()
            (lost, blocked) = ([], [])
        }
        check()
    }

    private mutating func takeWaiters(_ node: Int) -> [Int] {
        defer { nodes[node].waiters = [] }
        return nodes[node].waiters
    }

    private func check() {
        for (index, node) in nodes.enumerated() {
            #expect(machine.isUp(index) == node.isUp && machine.isPaused(index) == node.isPaused)
            #expect(machine.incarnation(of: index) == node.starts)
        }
        for incarnation in incarnations {
            let node = nodes[incarnation.node]
            let isLatest = node.starts == incarnation.number
            #expect(machine.standing(of: incarnation) == (isLatest ? node.standing : .ended))
            #expect(machine.isCurrent(incarnation) == (isLatest && node.isUp))
        }
        for link in links {
            let (sender, receiver) = (link.from!, link.to!)
            let isOpen = !lost.contains(link) && !blocked.contains(link)
            #expect(machine.isOpen(link) == isOpen)
            let latest = Incarnation(node: receiver, number: nodes[receiver].starts)
            let isHeard = isOpen && nodes[receiver].isUp
            #expect(machine.requestArrives(over: link, at: receiver) == (isHeard ? .reaches(latest) : .lost))
            #expect(machine.replyArrives(over: link, at: latest) == isHeard)
            #expect(machine.isOpen(LinkID(from: sender, to: sender)), "a node reaches itself")
            // A client without a name reaches every node that is up.
            #expect(
                (machine.requestArrives(over: LinkID(from: nil, to: receiver), at: receiver) == .lost)
                    != nodes[receiver].isUp
            )
            #expect(machine.replyArrives(over: LinkID(from: receiver, to: nil), at: nil))
        }
    }
}

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct NetworkStateMachineTests {
    @Test func everySequenceOfStartsCrashesAndPausesAgreesWithTheModel() {
        #expect(NetworkDriver().playEverySequence(upTo: 6) { $0.lifecycle } > 1_000)
    }

    @Test func everySequenceOfStrikesAgreesWithTheModel() {
        #expect(NetworkDriver().playEverySequence(upTo: 6) { $0.strikes } > 100)
    }

    @Test func everySequenceOfPartitionsAgreesWithTheModel() {
        #expect(NetworkDriver().playEverySequence(upTo: 6) { $0.partitions } > 100)
    }

    @Test func waitersAreToldInTheOrderOfTheirCalls() {
        var machine = NetworkStateMachine()
        let node = machine.addNode()
        let waiters = (0..<20).map { _ in machine.enroll(on: node) }
        #expect(machine.change(node) == waiters)
    }

    @Test func aNodeReachesItselfAlsoIfItIsBlocked() {
        var machine = NetworkStateMachine()
        let node = machine.addNode()
        machine.block(LinkID(from: node, to: node))
        #expect(machine.isOpen(LinkID(from: node, to: node)))
    }

    @Test func nodesThatNoGroupNamesAreOneMoreGroup() {
        var machine = NetworkStateMachine()
        for _ in 0..<5 { _ = machine.addNode() }
        machine.partition([[0], [1, 2]])
        let open = (0..<5).map { from in (0..<5).filter { machine.isOpen(LinkID(from: from, to: $0)) } }
        #expect(open == [[0], [1, 2], [1, 2], [3, 4], [3, 4]])
    }

    @Test func onlyTheSlowDirectionIsSlowUntilItIsHealed() {
        var machine = NetworkStateMachine()
        machine.slow(LinkID(from: 0, to: 1), by: 8)
        #expect(machine.slowness(of: LinkID(from: 0, to: 1)) == 8 && machine.slowness(of: LinkID(from: 1, to: 0)) == 1)
        machine.heal()
        #expect(machine.slowness(of: LinkID(from: 0, to: 1)) == 1)
    }
}
