import TestSupport
import Testing

@testable import TaskControl

typealias FlightMachine = FlightStateMachine<Int>

/// Lists of flights and callers that are searched through for each answer: the expected behavior of the machine of flights.
struct FlightModel: Hashable {
    enum Phase: Hashable {
        case current, forgotten, cancelled
    }

    struct Flight: Hashable {
        let number: Int
        let key: Int?
        var phase: Phase
        var level: UInt8
        var hasJob = false
        var hasBegun = false
        /// Whether the flight continues without callers.
        var isKept = false
    }

    struct Caller: Hashable {
        let number: Int
        let flight: Int
        var isParked = false
        /// It has been notified that it is off the flight, and this is the result that it must receive when it parks.
        var isLeft = false
        /// Whether it has begun its flight.
        var isFirst = false
    }

    /// A caller that waits for the end of all flights.
    struct Drain: Hashable {
        let number: Int
        var isParked = false
        /// The result that it must receive when it parks; `nil` while it waits.
        var outcome: WaitOutcome?
    }

    let runsToCompletion: Bool
    var isClosed = false
    /// Those that have not been resumed.
    var drains: [Drain] = []
    /// Those that have not ended.
    var flights: [Flight] = []
    /// Those that have not been resumed.
    var callers: [Caller] = []

    func flight(_ number: Int) -> Flight? { flights.first { $0.number == number } }

    func current(_ key: Int) -> Flight? { flights.first { $0.key == key && $0.phase == .current } }

    func callers(on flight: Int) -> [Caller] { callers.filter { $0.flight == flight && !$0.isLeft } }

    mutating func update(_ number: Int, _ change: (inout Flight) -> Void) {
        if let index = flights.firstIndex(where: { $0.number == number }) { change(&flights[index]) }
    }
}

enum FlightEvent: Hashable {
    case join(key: Int?)
    case attach(Int)
    case begin(Int)
    case park(Int)
    case leave(Int)
    /// Leaves, and keeps the flight.
    case leaveKeeping(Int)
    case raise(Int, UInt8)
    case finish(Int)
    case forget(Int)
    case cancelAll
    case launch(Int)
    /// Of a flight.
    case release(Int)
    case retire(Int)
    case close
    case drain
    /// Of a drain.
    case parkDrain(Int)
    case leaveDrain(Int)
    case raiseAll(UInt8)
}

/// Plays events to the machine and to the model, and compares what they say. The payload and the job of a flight are its number, and so
/// is the waiter of a caller.
struct FlightDriver: MachineDriver {
    private var machine: FlightMachine
    private(set) var model: FlightModel
    private var flights: [FlightMachine.ID] = []
    private var callers: [FlightMachine.Caller] = []
    private var keys: [FlightMachine.ID: Int?] = [:]
    private var drains: [FlightMachine.Drain] = []

    init(runsToCompletion: Bool) {
        machine = FlightMachine(runsToCompletion: runsToCompletion)
        model = FlightModel(runsToCompletion: runsToCompletion)
    }

    /// Two drivers of one signature have the same future, except for their numbers.
    var signature: Int {
        var hasher = Hasher()
        hasher.combine(model)
        hasher.combine(callers.count)
        hasher.combine(drains.count)
        return hasher.finalize()
    }

    /// The events that are possible now; cancellations, rises and late words come whenever they like.
    ///
    /// - Parameter mostFlights: The largest number of flights that begin without a caller.
    func possibleEvents(
        callers most: Int,
        keys: [Int?],
        levels: [UInt8],
        kept mostFlights: Int = 0,
        drains mostDrains: Int = 0
    ) -> [FlightEvent] {
        var events: [FlightEvent] = []
        if mostDrains > 0 {
            if !model.isClosed { events.append(.close) }
            if drains.count < mostDrains { events.append(.drain) }
            for drain in model.drains where !drain.isParked { events.append(.parkDrain(drain.number)) }
            events += drains.indices.map { .leaveDrain($0) }
            events += levels.map { .raiseAll($0) }
        }
        if mostFlights > 0 {
            for key in keys.compactMap({ $0 }) {
                if flights.count < mostFlights || model.current(key) != nil { events.append(.launch(key)) }
            }
            for flight in flights.indices { events += [.release(flight), .retire(flight)] }
            events += callers.indices.map { .leaveKeeping($0) }
        }
        if callers.count < most {
            events += keys.map { .join(key: $0) }
        }
        for flight in model.flights {
            if !flight.hasJob { events.append(.attach(flight.number)) }
            if !flight.hasBegun { events.append(.begin(flight.number)) }
            events.append(.finish(flight.number))
            for level in levels where level > flight.level { events.append(.raise(flight.number, level)) }
        }
        // The first of all: it has often ended.
        if !flights.isEmpty, model.flight(0) == nil { events += [.attach(0), .begin(0), .raise(0, 99)] }
        for caller in model.callers where !caller.isParked { events.append(.park(caller.number)) }
        events += callers.indices.map { .leave($0) }
        events += keys.compactMap { $0.map { .forget($0) } }
        if !model.flights.isEmpty { events.append(.cancelAll) }
        return events
    }

    mutating func play(_ event: FlightEvent) {
        switch event {
        case .join(let key): join(key)
        case .attach(let number): attach(number)
        case .begin(let number): begin(number)
        case .park(let number): park(number)
        case .leave(let number): leave(number, keepsFlight: false)
        case .leaveKeeping(let number): leave(number, keepsFlight: true)
        case .raise(let number, let level):
            let owed = model.flight(number).flatMap { $0.level < level && $0.hasJob ? number : nil }
            model.update(number) { $0.level = max($0.level, level) }
            let raised = machine.raise(flights[number], to: level)
            #expect(raised?.number == owed)
        case .finish(let number): finish(number)
        case .forget(let key):
            let current = model.current(key)?.number
            if let current { model.update(current) { $0.phase = .forgotten } }
            let payload = machine.forget(_ErasedKey(key))
            #expect(payload == current)
        case .cancelAll: cancelAll()
        case .launch(let key): launch(key)
        case .release(let number): release(number)
        case .retire(let number):
            let wasCurrent = model.flight(number)?.phase == .current
            let payload = machine.retire(flights[number])
            #expect(payload == (wasCurrent ? number : nil))
            if wasCurrent { model.update(number) { $0.phase = .forgotten } }
        case .close:
            machine.close()
            model.isClosed = true
        case .drain:
            let drain = machine.drain()
            #expect((drain == nil) == model.flights.isEmpty, "without flights there is nothing to wait for")
            if let drain {
                model.drains.append(.init(number: drains.count))
                drains.append(drain)
            }
        case .parkDrain(let number): parkDrain(number)
        case .leaveDrain(let number): leaveDrain(number)
        case .raiseAll(let level):
            let owed = model.flights.filter { $0.level < level && $0.hasJob }.map(\.number)
            for flight in model.flights { model.update(flight.number) { $0.level = max($0.level, level) } }
            #expect(Set(machine.raiseAll(to: level).map(\.number)) == Set(owed))
        }
        #expect(machine.hasDrains == model.drains.contains { $0.outcome == nil })
        #expect(machine.count == model.flights.count { $0.phase != .cancelled })
        #expect(machine.flights.count == model.flights.count)
        #expect(machine.callerCount == model.flights.reduce(0) { $0 + model.callers(on: $1.number).count })
        // The first caller of a flight that has ended with it, and not by leaving, learns this without a place.
        let placed = model.callers.count { !$0.isFirst || $0.isLeft || model.flight($0.flight) != nil }
        #expect(machine.waitCount == placed, "a caller that has gone on leaves no place behind")
        for (number, id) in flights.enumerated() {
            let flight = model.flight(number)
            #expect(machine.hasJob(id) == (flight?.hasJob ?? false))
            #expect(
                machine.cancelledJob(of: id)?.number
                    == (flight?.phase == .cancelled && flight?.hasJob == true ? number : nil)
            )
        }
        machine.checkInvariants()
    }

    private mutating func join(_ key: Int?) {
        let current = key.flatMap { model.current($0) }
        let erasedKey = key.map { _ErasedKey($0) }
        #expect(machine.current(erasedKey) == current.map { flights[$0.number] })
        if current == nil {
            switch machine.join(erasedKey, level: 5, nil) {
            case .absent where !model.isClosed, .refused where model.isClosed: break
            default: return #expect(Bool(false), "without a payload no flight begins")
            }
        }
        let answer = machine.join(erasedKey, level: 5, flights.count)
        switch answer {
        case .begun(let caller, let id):
            #expect(current == nil)
            let payload = flights.count
            flights.append(id)
            keys[id] = key
            model.flights.append(.init(number: payload, key: key, phase: key == nil ? .forgotten : .current, level: 5))
            #expect(caller.hasBegun(id))
            enter(caller, on: payload, isFirst: true)
        case .joined(let caller, let payload):
            #expect(current?.number == payload && !caller.hasBegun(flights[payload]))
            enter(caller, on: payload, isFirst: false)
        case .absent:
            #expect(Bool(false), "a flight begins with a payload")
        case .refused:
            #expect(current == nil && model.isClosed)
        }
    }

    private mutating func launch(_ key: Int) {
        let (current, number) = (model.current(key), flights.count)
        let id = machine.launch(_ErasedKey(key), level: 5, number)
        #expect((id == nil) == (current != nil || model.isClosed))
        if let current { return model.update(current.number) { $0.isKept = true } }
        guard let id else { return }
        flights.append(id)
        keys[id] = key
        model.flights.append(.init(number: number, key: key, phase: .current, level: 5, isKept: true))
    }

    private mutating func release(_ number: Int) {
        guard let key = keys[flights[number]] ?? nil else { return }
        let current = model.current(key).flatMap { $0.number == number ? $0 : nil }
        let leaving = machine.release(flights[number])
        guard let current else { return #expect(leaving.cancelled == nil && leaving.payload == nil) }
        model.update(current.number) { $0.isKept = false }
        let isOver = model.callers(on: current.number).isEmpty && !model.runsToCompletion
        #expect(leaving.cancelled == (isOver ? flights[current.number] : nil))
        #expect(leaving.cancelling?.number == (isOver && current.hasJob ? current.number : nil))
        #expect(leaving.payload == (isOver ? current.number : nil))
        if isOver { cancel(current.number) }
    }

    private mutating func enter(_ caller: FlightMachine.Caller, on flight: Int, isFirst: Bool) {
        model.callers.append(.init(number: callers.count, flight: flight, isFirst: isFirst))
        callers.append(caller)
    }

    private mutating func attach(_ number: Int) {
        let level = machine.attach(flights[number], Word(number), level: 5)
        // The task of a flight is attached once.
        #expect(level == owed(to: number))
        model.update(number) { $0.hasJob = true }
    }

    private mutating func begin(_ number: Int) {
        let level = machine.begin(flights[number], Word(number), level: 5)
        let mayBegin = model.flight(number).map { $0.phase != .cancelled } ?? false
        #expect(level == (mayBegin ? owed(to: number) : nil), "work that was cancelled does not begin")
        model.update(number) {
            $0.hasBegun = true
            $0.hasJob = $0.hasJob || mayBegin
        }
    }

    /// The level that a flight's task must be raised to when it is attached.
    private func owed(to number: Int) -> UInt8 {
        model.flight(number).map { !$0.hasJob && $0.level > 5 ? $0.level : 0 } ?? 0
    }

    private mutating func park(_ number: Int) {
        guard let index = model.callers.firstIndex(where: { $0.number == number }) else { return }
        let caller = model.callers[index]
        let outcome = machine.park(callers[number], Word(number))
        if caller.isLeft {
            #expect(outcome == .left)
        } else {
            #expect(outcome == (model.flight(caller.flight) == nil ? .reached : nil))
        }
        if outcome == nil { model.callers[index].isParked = true } else { model.callers.remove(at: index) }
    }

    private mutating func leave(_ number: Int, keepsFlight: Bool) {
        let leaving = machine.leave(callers[number], keepsFlight: keepsFlight)
        guard let index = model.callers.firstIndex(where: { $0.number == number && !$0.isLeft }),
            let flight = model.flight(model.callers[index].flight)
        else {
            return #expect(
                !leaving.hasLeft && leaving.waiter == nil && leaving.cancelling == nil,
                "it has left, or been told"
            )
        }
        #expect(leaving.hasLeft)
        if keepsFlight { model.update(flight.number) { $0.isKept = true } }
        #expect(leaving.waiter?.number == (model.callers[index].isParked ? number : nil))
        if model.callers[index].isParked { model.callers.remove(at: index) } else { model.callers[index].isLeft = true }
        let isLast =
            model.callers(on: flight.number).isEmpty && !model.runsToCompletion && !flight.isKept && !keepsFlight
        #expect(leaving.cancelling?.number == (isLast && flight.hasJob ? flight.number : nil))
        #expect(leaving.cancelled == (isLast ? flights[flight.number] : nil))
        if isLast { cancel(flight.number) }
    }

    private mutating func cancel(_ number: Int) { model.update(number) { $0.phase = .cancelled } }

    private mutating func finish(_ number: Int) {
        let wasCurrent = model.flight(number)?.phase == .current
        let landing = machine.finish(flights[number])
        let there = model.callers(on: number)
        let waiters = ([landing.first].compactMap { $0 } + landing.others).map(\.number)
        #expect(waiters == there.filter(\.isParked).map(\.number), "in the order of joining")
        #expect(landing.isUnheard == there.isEmpty)
        #expect(landing.payload == (wasCurrent ? number : nil))
        model.flights.removeAll { $0.number == number }
        let drained = model.flights.isEmpty ? model.drains.filter { $0.outcome == nil } : []
        #expect(landing.drained.map(\.number) == drained.filter(\.isParked).map(\.number), "in the order of the calls")
        for drain in drained { settle(drain.number, with: .reached) }
        model.callers.removeAll { $0.flight == number && $0.isParked }
    }

    private mutating func settle(_ drain: Int, with outcome: WaitOutcome) {
        guard let index = model.drains.firstIndex(where: { $0.number == drain }) else { return }
        model.drains[index].outcome = outcome
        if model.drains[index].isParked { model.drains.remove(at: index) }
    }

    private mutating func parkDrain(_ number: Int) {
        guard let index = model.drains.firstIndex(where: { $0.number == number }) else { return }
        let outcome = machine.park(drains[number], Word(number))
        #expect(outcome == model.drains[index].outcome)
        if outcome == nil { model.drains[index].isParked = true } else { model.drains.remove(at: index) }
    }

    private mutating func leaveDrain(_ number: Int) {
        let waiting = model.drains.first { $0.number == number && $0.outcome == nil }
        #expect(machine.leave(drains[number])?.number == (waiting?.isParked == true ? number : nil))
        if waiting != nil { settle(number, with: .left) }
    }

    private mutating func cancelAll() {
        let clearing = machine.cancelAll()
        let (jobs, waiters) = (clearing.jobs.map(\.number), clearing.waiters.map(\.number))
        let live = model.flights.filter { $0.phase != .cancelled }
        #expect(Set(clearing.ids) == Set(live.map { flights[$0.number] }) && clearing.ids.count == live.count)
        #expect(Set(jobs) == Set(live.filter(\.hasJob).map(\.number)) && jobs.count == Set(jobs).count)
        let there = live.flatMap { model.callers(on: $0.number) }
        #expect(Set(waiters) == Set(there.filter(\.isParked).map(\.number)) && waiters.count == Set(waiters).count)
        for flight in live { cancel(flight.number) }
        let numbers = Set(there.map(\.number))
        model.callers.removeAll { numbers.contains($0.number) && $0.isParked }
        for index in model.callers.indices where numbers.contains(model.callers[index].number) {
            model.callers[index].isLeft = true
        }
    }
}
