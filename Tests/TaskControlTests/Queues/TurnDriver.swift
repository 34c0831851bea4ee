import TestSupport
import Testing

@testable import TaskControl

typealias TurnMachine = TurnStateMachine

/// A line that is searched through for each answer: the expected behavior of the machine of a queue.
struct TurnModel: Hashable {
    /// The next step of a task.
    enum Stage: Hashable {
        case comes, parks, sleeps, runs
    }

    struct Person: Hashable {
        let number: Int
        var stage = Stage.comes
        var isCalled = false
        /// Its task has asked too early: it must ask again.
        var hasAsked = false
        /// Whether it has its turn. Its task, if it was given the turn, may not have come.
        var hasBegun = false
        var hasHandle = false
        var isToBeRaised = false
        var level: UInt8
    }

    struct Drainer: Hashable {
        let number: Int
        var waitsFor: Set<Int>
        var isParked = false
        /// It was dropped before it had parked; the result that it must receive then.
        var isLeft: Bool?
    }

    let capacity: Int?
    var isPaused = false
    var line: [Person] = []
    var drainers: [Drainer] = []

    var running: Int { line.filter(\.hasBegun).count }

    /// Whose turn it is.
    var next: Int? {
        // A person who was called has the turn.
        if isPaused { return line.first { !$0.hasBegun }.flatMap { $0.isCalled ? $0.number : nil } }
        if let capacity, running >= capacity { return nil }
        return line.first { !$0.hasBegun }?.number
    }

    func index(_ number: Int) -> Int? { line.firstIndex { $0.number == number } }

    /// - Returns: The waiter that is called.
    mutating func call() -> Int? {
        guard let next, let index = index(next) else { return nil }
        if line[index].stage == .sleeps {
            line[index].stage = .comes
            line[index].isCalled = true
            return next
        }
        // Given: its task has not come.
        if capacity == 1, !line[index].isCalled, !line[index].hasAsked { line[index].hasBegun = true }
        return nil
    }

    /// - Returns: The handles to raise: those of the people from `index` down that have less.
    mutating func raise(below index: Int, to level: UInt8) -> [Int] {
        var jobs: [Int] = []
        for index in (0..<index).reversed() where line[index].level < level {
            line[index].level = level
            if line[index].hasHandle {
                jobs.append(line[index].number)
            } else {
                line[index].isToBeRaised = true
            }
        }
        return jobs
    }

    /// - Returns: The waiters to resume.
    mutating func takeDrained() -> [Int] {
        let numbers = Set(line.map(\.number))
        var woken: [Int] = []
        for index in drainers.indices where drainers[index].waitsFor.isDisjoint(with: numbers) {
            if drainers[index].isParked {
                woken.append(drainers[index].number)
            } else if drainers[index].isLeft == nil {
                drainers[index].isLeft = false
            }
        }
        drainers.removeAll { woken.contains($0.number) }
        return woken
    }
}

enum TurnEvent: Hashable {
    case enqueue(level: UInt8)
    case attach(Int)
    case begin(Int)
    case park(Int)
    case finish(Int)
    case leave(Int)
    case raise(Int, UInt8)
    case raiseAll(UInt8)
    case pause
    case resume
    case enrollDrainer
    case parkDrainer(Int)
    case drainerLeaves(Int)
    /// A caller takes its turn in the gate.
    case enterGate
    /// Code looks at the line, and takes the gate back.
    case look
}

/// Plays events to the machine and to the model, and compares what they say. A waiter is identified by its number; a drainer by 100 more.
struct TurnDriver: MachineDriver {
    private var machine: TurnMachine
    /// The gate, which the storage keeps beside the machine.
    private var gate: TurnGate
    /// The caller whose turn is in the gate.
    private var inGate: Int?
    private(set) var model: TurnModel
    private var ids: [TurnMachine.ID] = []
    private var drainerIDs: [TurnMachine.DrainID] = []

    init(capacity: Int?) {
        machine = TurnMachine(capacity: capacity)
        gate = machine.gate
        model = TurnModel(capacity: capacity)
    }

    /// Two drivers of one signature have the same future, except for their numbers.
    var signature: Int {
        var hasher = Hasher()
        hasher.combine(model)
        hasher.combine(inGate)
        hasher.combine(ids.count)
        return hasher.finalize()
    }

    /// The events that are possible now: each task does one thing after the other; cancellations, rises and late words come whenever they like.
    ///
    /// - Parameters:
    ///   - callers: Whether callers take turns without the line.
    ///   - pauses: Whether the queue is paused.
    func possibleEvents(
        people: Int,
        drainers: Int,
        levels: [UInt8],
        callers: Bool = false,
        pauses: Bool = false
    ) -> [TurnEvent] {
        var events: [TurnEvent] = []
        if pauses { events.append(model.isPaused ? .resume : .pause) }
        if ids.count < people {
            events += levels.map { .enqueue(level: $0) }
            if callers, model.capacity != nil, model.line.isEmpty, inGate == nil, !model.isPaused {
                events.append(.enterGate)
            }
        }
        if let inGate { events += [.finish(inGate), .look] }
        for person in model.line {
            // A caller that takes a turn in its own task never brings a handle.
            if !person.hasHandle { events.append(.attach(person.number)) }
            switch person.stage {
            case .comes: events.append(.begin(person.number))
            case .parks: events.append(.park(person.number))
            case .runs: events.append(.finish(person.number))
            case .sleeps: break
            }
            for level in levels where level != person.level { events.append(.raise(person.number, level)) }
        }
        for number in ids.indices where number != inGate { events.append(.leave(number)) }
        // The first of all has often left. It may leave between the answer that it must wait and its attempt to park.
        if !ids.isEmpty, model.index(0) == nil, inGate != 0 {
            events += [.begin(0), .park(0), .finish(0), .attach(0), .raise(0, 99)]
        }
        if model.capacity != nil, drainerIDs.count < drainers { events.append(.enrollDrainer) }
        for drainer in model.drainers {
            if !drainer.isParked { events.append(.parkDrainer(drainer.number)) }
            events.append(.drainerLeaves(drainer.number))
        }
        if let top = levels.last, !model.line.isEmpty { events.append(.raiseAll(top)) }
        return events
    }

    mutating func play(_ event: TurnEvent) {
        switch event {
        case .enterGate: enterGate()
        case .finish(let number) where number == inGate: leaveGate(number)
        default:
            takeGateBack()
            playInLine(event)
            gate = machine.gate
        }
        check()
    }

    private mutating func playInLine(_ event: TurnEvent) {
        switch event {
        case .enterGate, .look: break
        case .enqueue(let level): enqueue(level)
        case .attach(let number): attach(number)
        case .begin(let number): begin(number)
        case .park(let number): park(number)
        case .finish(let number): finish(number)
        case .leave(let number): leave(number)
        case .raise(let number, let level): raise(number, level)
        case .raiseAll(let level):
            let expected = model.raise(below: model.line.count, to: level)
            let raised = machine.raiseAll(to: level).map(\.number)
            #expect(raised == expected)
        case .pause:
            let changes = [machine.pause(), machine.pause()]
            #expect(changes == [true, false])
            model.isPaused = true
        case .resume:
            let (hasChanged, calling) = machine.endPause()
            let changesAgain = machine.endPause().hasChanged
            #expect(hasChanged && !changesAgain)
            model.isPaused = false
            #expect(calling?.number == model.call())
        case .enrollDrainer: enrollDrainer()
        case .parkDrainer(let number): parkDrainer(number)
        case .drainerLeaves(let number): drainerLeaves(number)
        }
    }

    private func check() {
        #expect(machine.count == model.line.count)
        #expect(machine.runningCount == model.running)
        #expect(machine.entries.count == model.line.count)
        for (number, id) in ids.enumerated() {
            #expect(machine.isRunning(id) == (model.index(number).map { model.line[$0].hasBegun } ?? false))
            #expect(gate.isTaken(by: id) == (number == inGate))
        }
        #expect(gate.isLine == (model.capacity == nil || !model.line.isEmpty || model.isPaused))
        for person in model.line { #expect(machine.entries[ids[person.number].slot].level == person.level) }
        machine.checkInvariants()
    }

    // MARK: The gate

    private mutating func enterGate() {
        guard let entered = gate.entered else { return #expect(Bool(false), "the queue is idle") }
        #expect(gate.left(entered.turn) == nil, "the turn has not begun")
        #expect(entered.entered == nil, "one caller has a turn")
        gate = entered
        inGate = ids.count
        ids.append(entered.turn)
    }

    private mutating func leaveGate(_ number: Int) {
        guard let left = gate.left(ids[number]) else { return #expect(Bool(false), "its turn is in the gate") }
        #expect(left.left(ids[number]) == nil, "the turn has ended")
        gate = left
        inGate = nil
    }

    private mutating func takeGateBack() {
        if !gate.isLine { machine.takeBack(gate) }
        guard let number = inGate else { return }
        inGate = nil
        model.line.append(.init(number: number, stage: .runs, hasBegun: true, level: .max))
    }

    // MARK: The line

    private mutating func enqueue(_ level: UInt8) {
        let number = ids.count
        let place = machine.enqueue(level: level)
        ids.append(place.id)
        model.line.append(.init(number: number, level: level))
        let called = model.call()
        #expect(called == nil)
        let isUrgent = model.line.dropLast().contains { $0.level < level }
        #expect(place.isUrgent == isUrgent)
        guard isUrgent else { return }
        let expected = model.raise(below: model.line.count - 1, to: level)
        let raised = machine.raise(before: place.id, to: level).map(\.number)
        #expect(raised == expected)
    }

    private mutating func attach(_ number: Int) {
        var owed: UInt8 = 0
        if let index = model.index(number) {
            model.line[index].hasHandle = true
            if model.line[index].isToBeRaised { owed = model.line[index].level }
            model.line[index].isToBeRaised = false
        }
        let attached = machine.attach(ids[number], Word(number))
        #expect(attached == owed)
    }

    private mutating func begin(_ number: Int) {
        switch machine.begin(ids[number]) {
        case .gone:
            #expect(model.index(number) == nil)
        case .wait:
            #expect(model.index(number) != nil && model.next != number)
            if let index = model.index(number) {
                #expect(!model.line[index].hasBegun)
                model.line[index].stage = .parks
                model.line[index].hasAsked = true
            }
        case .run(let calling):
            guard let index = model.index(number) else { return #expect(Bool(false), "it is in line") }
            if model.line[index].hasBegun {
                // The storage does not ask.
                #expect(calling == nil && machine.gate.hasGiven(ids[number]))
                model.line[index].stage = .runs
                return
            }
            #expect(model.next == number, "it is its turn")
            #expect(!machine.gate.hasGiven(ids[number]))
            if model.capacity == nil {
                model.line.remove(at: index)
            } else {
                model.line[index].hasBegun = true
                model.line[index].stage = .runs
            }
            let expected = model.call()
            #expect(calling?.number == expected)
        }
    }

    private mutating func park(_ number: Int) {
        let sleeps = machine.park(ids[number], Word(number))
        let mayBegin = model.index(number).map { model.line[$0].hasBegun } ?? true || model.next == number
        #expect(sleeps == !mayBegin)
        if let index = model.index(number) { model.line[index].stage = sleeps ? .sleeps : .comes }
    }

    private mutating func finish(_ number: Int) {
        let departure = machine.finish(ids[number])
        guard let index = model.index(number), model.line[index].hasBegun else {
            return check(departure, calling: nil, leaving: nil, hasLeft: false)
        }
        model.line.remove(at: index)
        check(departure, calling: model.call(), leaving: nil, hasLeft: true)
    }

    private mutating func leave(_ number: Int) {
        let departure = machine.leave(ids[number])
        guard let index = model.index(number), !model.line[index].hasBegun else {
            return check(departure, calling: nil, leaving: nil, hasLeft: false)
        }
        let leaving = model.line.remove(at: index).stage == .sleeps ? number : nil
        check(departure, calling: model.call(), leaving: leaving, hasLeft: true)
    }

    private mutating func check(
        _ departure: TurnMachine.Departure,
        calling: Int?,
        leaving: Int?,
        hasLeft: Bool
    ) {
        #expect(departure.calling?.number == calling && departure.leaving?.number == leaving)
        guard hasLeft else { return #expect(!departure.hasDrained) }
        let woken = model.takeDrained()
        let drained = departure.hasDrained ? machine.takeDrained().map(\.number) : []
        #expect(drained == woken)
    }

    private mutating func raise(_ number: Int, _ level: UInt8) {
        guard let index = model.index(number), !model.line[index].hasBegun else {
            // Late: it waits no more.
            let late = machine.raise(before: ids[number], to: level)
            return #expect(late.isEmpty)
        }
        model.line[index].level = max(model.line[index].level, level)
        let expected = model.raise(below: index, to: level)
        let raised = machine.raise(before: ids[number], to: level).map(\.number)
        #expect(raised == expected)
    }

    private mutating func enrollDrainer() {
        let id = machine.enrollDrainer()?.id
        #expect((id == nil) == model.line.isEmpty)
        guard let id else { return }
        model.drainers.append(.init(number: 100 + drainerIDs.count, waitsFor: Set(model.line.map(\.number))))
        drainerIDs.append(id)
    }

    private mutating func parkDrainer(_ number: Int) {
        guard let index = model.drainers.firstIndex(where: { $0.number == number }) else { return }
        let outcome = machine.parkDrainer(drainerIDs[number - 100], Word(number))
        #expect(outcome == model.drainers[index].isLeft.map { $0 ? .left : .reached })
        if outcome == nil { model.drainers[index].isParked = true } else { model.drainers.remove(at: index) }
    }

    private mutating func drainerLeaves(_ number: Int) {
        guard let index = model.drainers.firstIndex(where: { $0.number == number }) else { return }
        let waiter = machine.drainerLeaves(drainerIDs[number - 100])
        #expect(waiter?.number == (model.drainers[index].isParked ? number : nil))
        if model.drainers[index].isParked {
            model.drainers.remove(at: index)
        } else if model.drainers[index].isLeft == nil {
            model.drainers[index].isLeft = true
        }
    }
}
