import TaskControl
import TestSupport
import Testing

@testable import TaskControlSupervision

/// Plays events to a machine, carries its answers out as a coordinator does, and checks them against what the runs really do.
struct SupervisionDriver: MachineDriver {
    enum Event: Hashable {
        /// The coordinator asks, if it is awake.
        case ask
        case began(Int), ready(Int), returned(Int), threw(Int)
        case advance
        case close(isAbrupt: Bool)
        case stop(Int)
        case cancel(Int)
        case cancelAll
        case add
    }

    struct Run: Hashable {
        let number: Int
        /// Whether the limit counts the run.
        let isRestart: Bool
        var hasBegun = false
        var isReady = false
        var stopRequestedAt: Int?
        var isCancelled = false
    }

    private var machine: SupervisionStateMachine
    private let strategy: Supervisor.Strategy
    private let limit: Int
    private let grace: Int
    /// The time that cancelled runs have to end while all children are stopped; `nil` for any time.
    private let patience: Int?
    /// The time at which the coordinator was asked first about a cancelled run that it waits for.
    private var cancelledSince: [Int: Int] = [:]
    private let rules: SupervisionStateMachine.Rules
    /// How many children there may be.
    private let most: Int
    private var runs: [Run?]
    private var hasBeenReady: [Bool]
    private var isOver: [Bool]
    private var mustCount: [Bool]
    private var isRetired: [Bool]
    private var time = 0
    private var restarts: [Int] = []
    private var isParked = false
    private var wakesAt: Int?
    private var isClosed = false, isAbrupt = false
    private(set) var end: SupervisionStateMachine.End?

    static let period = 3

    init(
        _ strategy: Supervisor.Strategy,
        children: Int,
        rule: RestartRule = .onFailure,
        limit: Int = 2,
        grace: Int = 0,
        patience: Int? = nil,
        most: Int = 0
    ) {
        self.patience = patience
        self.strategy = strategy
        self.limit = limit
        self.grace = grace
        rules = .init(restart: rule, grace: .seconds(grace), stableAfter: .seconds(2))
        self.most = max(most, children)
        machine = SupervisionStateMachine(strategy, .restarts(limit, per: .seconds(Self.period)))
        runs = Array(repeating: nil, count: children)
        hasBeenReady = Array(repeating: false, count: children)
        isOver = hasBeenReady
        mustCount = hasBeenReady
        isRetired = hasBeenReady
        for child in 0..<children {
            _ = machine.add(rules(of: child))
        }
        expect(machine.begin(), true)
        expect(machine.begin(), false, "one coordinator")
    }

    /// The rule that was given, and for further children the others in turn.
    private func rules(of child: Int) -> SupervisionStateMachine.Rules {
        let rule = child < 2 ? rules.restart : RestartRule.allCases[child % 3]
        return .init(restart: rule, grace: rules.grace, stableAfter: rules.stableAfter)
    }

    var signature: Int { "\(self)".hashValue }

    var isRunning: Bool { runs.contains { $0 != nil } }

    /// The events that are possible now.
    var events: [Event] {
        if end != nil { return [] }
        var events: [Event] = isParked ? [.advance] : [.ask, .advance]
        for child in runs.indices {
            guard let run = runs[child] else { continue }
            if !run.hasBegun {
                events.append(.began(child))
                continue
            }
            if !run.isReady { events.append(.ready(child)) }
            events += [.returned(child), .threw(child)]
        }
        if !isClosed { events.append(.close(isAbrupt: false)) }
        if !isAbrupt { events.append(.close(isAbrupt: true)) }
        if let first = isOver.firstIndex(of: false) { events += [.stop(first), .cancel(first), .cancelAll] }
        if runs.count < most { events.append(.add) }
        return events
    }

    mutating func play(_ event: Event) {
        switch event {
        case .ask: ask()
        case .began(let child):
            let (mayRun, waking) = machine.began(child, run: runs[child]!.number)
            woken(waking)
            runs[child]?.hasBegun = true
            // A run that must not begin ends at once, as the task does.
            if mayRun { begun(child) } else { ended(child, .returned) }
        case .ready(let child):
            runs[child]?.isReady = true
            woken(machine.ready(child, run: runs[child]!.number))
            expect(machine.ready(child, run: runs[child]!.number), nil, "the second call has no effect")
        case .returned(let child): ended(child, .returned)
        case .threw(let child): ended(child, .threw)
        case .advance:
            time += 1
            if let wakesAt, wakesAt <= time { woken(machine.wake()) }
        case .close(let isAbrupt):
            isClosed = true
            if isAbrupt { self.isAbrupt = true }
            let (waking, isEnd) = machine.close(
                isAbrupt: isAbrupt,
                cancellationGrace: patience.map { .seconds($0) }
            )
            #expect(!isEnd, "the coordinator publishes the end")
            woken(waking)
        case .stop(let child), .cancel(let child):
            isRetired[child] = true
            let isAbrupt = if case .cancel = event { true } else { false }
            let (answer, waking) = machine.stop(child, isAbrupt: isAbrupt)
            let isCancelled = runs[child]?.hasBegun == true && (isAbrupt || rules(of: child).grace == .zero)
            expect(answer, isCancelled ? .cancels : .stops)
            if isCancelled { runs[child]?.isCancelled = true }
            woken(waking)
        case .cancelAll:
            let present = isOver.indices.filter { !isOver[$0] }
            let (ended, running, waking) = machine.cancelAll()
            #expect(ended.isEmpty, "the coordinator publishes the ends")
            #expect(
                running == present.filter { runs[$0]?.hasBegun == true },
                "each run that has begun is cancelled when the call returns"
            )
            for child in present { isRetired[child] = true }
            for child in running { runs[child]?.isCancelled = true }
            expect(machine.count, 0)
            woken(waking)
        case .add:
            let (child, waking) = machine.add(rules(of: runs.count))
            #expect((child == nil) == isClosed, "a group that is closed takes no child")
            woken(waking)
            guard child != nil else { break }
            runs.append(nil)
            hasBeenReady.append(false)
            isOver.append(false)
            mustCount.append(false)
            isRetired.append(false)
        }
        checkThatNoWakeIsMissing()
    }

    private mutating func ended(_ child: Int, _ end: SupervisionStateMachine.RunEnd) {
        let number = runs[child]!.number
        runs[child] = nil
        woken(machine.ended(child, run: number, end))
        expect(machine.ended(child, run: number, end), nil, "a run ends once")
    }

    private mutating func woken(_ waiter: Word?) {
        if waiter != nil { (isParked, wakesAt) = (false, nil) }
    }

    /// A coordinator that sleeps would have nothing else to do if it asked.
    private func checkThatNoWakeIsMissing() {
        guard isParked else { return }
        var copy = machine
        guard case .wait(let until) = copy.next(at: .seconds(time)) else {
            Issue.record("The coordinator sleeps, and has something to do.")
            return
        }
        #expect(until == wakesAt.map { .seconds($0) })
    }

    private mutating func ask() {
        switch machine.next(at: .seconds(time)) {
        case .announceReady(let child): hasBeenReady[child] = true
        case .start(let child, let number): start(child, number)
        case .failed(let child, let failures, let mayRestart):
            #expect(runs[child] == nil)
            if mayRestart, machine.restart(child, after: .seconds(min(failures, 2) - 1), at: .seconds(time)) {
                mustCount[child] = true
            } else {
                fail(child)
            }
        case .limitReached(let child): fail(child)
        case .completed(let child): publishEnd(of: child)
        case .requestStop(let child):
            let isInOrder = !runs[(child + 1)...].contains { $0 != nil }
            #expect(isInOrder || (!isClosed && (strategy == .one || isRetired[child])), "in reverse order")
            runs[child]?.stopRequestedAt = time
        case .cancel(let child, let isFinal):
            #expect(runs[child]?.isCancelled == false)
            #expect(isFinal || !isClosed)
            let since = runs[child]?.stopRequestedAt
            #expect(since != nil && (isAbrupt || time - since! >= grace), "the grace is over")
            runs[child]?.isCancelled = true
        case .down(let child, let isFinal):
            #expect(runs[child] == nil)
            #expect(isFinal || !isClosed)
            if isFinal { publishEnd(of: child) }
        case .leave(let child):
            let run = runs[child]!
            #expect(isClosed && run.isCancelled, "a run that was cancelled is left behind")
            let since = cancelledSince[child] ?? time
            #expect(patience.map { time - since >= $0 } == true, "it had time to end")
            runs[child] = nil
            publishEnd(of: child)
            expect(machine.ended(child, run: run.number, .threw), nil, "its late end finds nothing")
        case .wait(let until):
            if isClosed, let last = runs.lastIndex(where: { $0 != nil }), runs[last]!.isCancelled {
                if cancelledSince[last] == nil { cancelledSince[last] = time }
            }
            if machine.park(1) { break }
            isParked = true
            wakesAt = until.map { Int($0.components.seconds) }
            #expect(wakesAt ?? .max > time, "no wait for the past")
        case .end(let end):
            #expect(!isRunning, "no run outlives the end")
            #expect(isClosed || isOver.allSatisfy(\.self))
            self.end = end
            _ = machine.end()
            #expect(machine.isEmpty, "nothing is left")
        }
    }

    private mutating func fail(_ child: Int) {
        machine.fail(child)
        publishEnd(of: child)
        isClosed = true
    }

    private mutating func publishEnd(of child: Int) {
        _ = machine.wakeEnded(child)
        isOver[child] = true
    }

    /// The limit holds for the times at which the operations begin, also when a task waits for a thread.
    private mutating func begun(_ child: Int) {
        guard runs[child]!.isRestart else { return }
        restarts.append(time)
        let recent = restarts.count { time - $0 < Self.period }
        #expect(recent <= limit, "the limit holds in every window")
    }

    private mutating func start(_ child: Int, _ number: Int) {
        #expect(runs[child] == nil, "a run does not overlap the one before")
        #expect(!isClosed && !isOver[child] && !isRetired[child], "what was stopped does not begin")
        let isOrdered = runs[..<child].indices.allSatisfy {
            isOver[$0] || (strategy == .one ? hasBeenReady[$0] : runs[$0]?.isReady == true)
        }
        #expect(number == 1 || rules(of: child).restart != .never, "the rule says once")
        #expect(isOrdered || (strategy == .one && number > 1), "children start in order")
        runs[child] = Run(number: number, isRestart: mustCount[child])
        mustCount[child] = false
    }

    /// Lets everything end that was asked to, and expects that the machine then ends.
    mutating func finish() {
        play(.close(isAbrupt: true))
        for _ in 0..<200 where end == nil {
            if let child = runs.firstIndex(where: { $0?.hasBegun == false }) {
                play(.began(child))
            } else if !isParked {
                play(.ask)
            } else if let child = runs.firstIndex(where: { $0?.isCancelled == true }) {
                play(.threw(child))
            } else {
                Issue.record("The coordinator waits for nothing.")
                return
            }
        }
        #expect(end != nil, "everything ends")
    }
}

/// Compares what a mutating call has returned, which `#expect` cannot call.
func expect<Value: Equatable>(
    _ value: Value,
    _ expected: Value,
    _ comment: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(value == expected, Comment(rawValue: comment), sourceLocation: sourceLocation)
}
