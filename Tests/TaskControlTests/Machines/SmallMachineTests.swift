import TaskControlTesting
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct AsyncTaskStateMachineTests {
    enum Event: CaseIterable { case bindA, bindB, release, decide, finish }

    struct Place: Hashable {
        let place: Int
    }

    /// All sequences of five events: what is in the books when the task has finished is taken out, once each.
    @Test func everyBindingIsTakenOutOfTheBooksOnce() {
        func search(
            _ machine: AsyncTaskStateMachine<Place>,
            bound: [Int],
            removed: [Int],
            hasFinished: Bool,
            depth: Int
        ) {
            let inBooks = bound.filter { !removed.contains($0) }
            #expect(inBooks.count <= 1, "a task has one lifetime at most")
            if hasFinished { #expect(inBooks.isEmpty, "what has finished is in no books") }
            #expect(Set(removed).count == removed.count, "nothing is taken out twice")
            guard depth > 0 else { return }
            for event in Event.allCases {
                var (machine, bound, removed, hasFinished) = (machine, bound, removed, hasFinished)
                var obsolete: Int?
                switch event {
                case .bindA, .bindB:
                    bound.append(bound.count)
                    obsolete = machine.bind(Place(place: bound.count - 1))?.place
                    #expect(!machine.isUndecided)
                case .release: obsolete = machine.release()?.place
                case .decide: machine.decide()
                case .finish:
                    if hasFinished { continue }
                    hasFinished = true
                    obsolete = machine.finish()?.place
                }
                #expect(!machine.isUndecided)
                if let obsolete { removed.append(obsolete) }
                search(machine, bound: bound, removed: removed, hasFinished: hasFinished, depth: depth - 1)
            }
        }
        #expect(AsyncTaskStateMachine<Place>().isUndecided)
        search(AsyncTaskStateMachine(), bound: [], removed: [], hasFinished: false, depth: 5)
    }

    /// All sequences of five events of a task that events name at any moment: it keeps its name.
    @Test func eventsKnowATaskByOneSubject() {
        func search(_ life: AsyncTask.Life, _ settled: TaskEvent.Identity?, depth: Int) {
            var named = life
            let subject = named.subject()
            #expect(settled == nil || subject == settled)
            guard depth > 0 else { return }
            for life in [life, named] {
                // Its place may have been named by its registry.
                let settled = life.settledSubject ?? life.machine.binding?.subject
                for event in Event.allCases {
                    var life = life
                    switch event {
                    case .bindA: _ = life.bind(places[0])
                    case .bindB: _ = life.bind(places[1])
                    case .release: _ = life.release()
                    case .decide: _ = life.decide()
                    case .finish: _ = life.finish()
                    }
                    search(life, settled, depth: depth - 1)
                }
            }
        }
        let places = (0..<2).compactMap { _ -> AsyncTask.Binding? in
            let registry = TaskRegistry(.asyncLifetime, name: nil)
            return registry.reserve().map { AsyncTask.Binding(registry: registry, id: $0) }
        }
        search(AsyncTask.Life(), nil, depth: 5)
    }
}

@Suite(.timeLimit(.minutes(15)))
struct WaiterTableTests {
    @Test func aWaiterThatLeavesBeforeItParksIsToldWhenItParks() {
        var table = WaiterTable<Int, String>()
        let id = table.enroll()
        #expect(table.leave(id, with: "left") == nil)
        #expect(table.park(id, 1) == "left")
        #expect(table.count == 0)
    }

    @Test func aWaiterThatParksAfterTheEventIsToldWhenItParks() {
        var table = WaiterTable<Int, String>()
        let id = table.enroll()
        #expect(table.wakeAll(with: "woken").isEmpty)
        #expect(table.leave(id, with: "left") == nil, "the first word counts")
        #expect(table.park(id, 1) == "woken")
        #expect(table.count == 0)
    }

    @Test func everybodyWhoIsParkedIsHandedOutOnceInTheOrderOfEnrolling() {
        var table = WaiterTable<Int, String>()
        let ids = (0..<20).map { _ in table.enroll() }
        for (number, id) in ids.enumerated().reversed() { #expect(table.park(id, number) == nil) }
        #expect(table.leave(ids[3], with: "left") == 3)
        #expect(table.wakeAll(with: "woken") == Array(0..<20).filter { $0 != 3 })
        #expect(ids.allSatisfy { table.leave($0, with: "left") == nil })
        #expect(table.count == 0)
    }
}

@Suite(.timeLimit(.minutes(15)))
struct FlightNestingTests {
    /// Random waits, departures and ends against a list of waits that is searched through.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func agreesWithAListOfWaits(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var nesting = FlightNesting<Int>()
        var waits: [(origin: Int, target: Int, caller: Int)] = []
        var (flights, ended) = (Array(0..<6), Set<Int>())
        for step in 0..<600 {
            let flight = flights.randomElement(using: &random)!
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8:
                guard let target = flights.filter({ $0 != flight }).randomElement(using: &random) else { continue }
                nesting.insert(from: flight, to: target, by: step)
                waits.append((flight, target, step))
            case 8..<18:
                guard let index = waits.indices.randomElement(using: &random) else { continue }
                let wait = waits.remove(at: index)
                nesting.remove(to: wait.target, by: wait.caller)
            case 18:
                nesting.removeAll(to: flight)
                waits.removeAll { $0.target == flight }
            default:
                nesting.removeAll(of: flight)
                waits.removeAll { $0.target == flight }
                ended.insert(flight)
                flights[flights.firstIndex(of: flight)!] = 1_000 + step
            }
            for flight in flights {
                var reached: Set = [flight]
                for _ in flights {
                    for wait in waits where reached.contains(wait.origin) && !ended.contains(wait.origin) {
                        reached.insert(wait.target)
                    }
                }
                #expect(flights.allSatisfy { nesting.leads(from: flight, to: [$0]) == reached.contains($0) })
            }
            #expect(nesting.isEmpty == waits.isEmpty)
        }
    }
}

@Suite(.timeLimit(.minutes(15)))
struct SlotTableTests {
    /// Random insertions and removals against a dictionary.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func agreesWithADictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = SlotTable<UInt64>()
        var model: [SlotTable<UInt64>.Index: UInt64] = [:]
        for step in 0..<3_000 {
            let isGrowing = (step / 300).isMultiple(of: 2)
            if model.isEmpty || random.next() % 10 < (isGrowing ? 7 : 3) {
                let value = random.next()
                let index = table.insert(value)
                #expect(model.updateValue(value, forKey: index) == nil)
            } else {
                let index = model.keys.sorted().randomElement(using: &random)!
                #expect(table[index] == model[index])
                #expect(table.remove(index) == model.removeValue(forKey: index))
                #expect(!table.isOccupied(index))
            }
            #expect(table.count == model.count)
            #expect(table.extent >= model.count)
        }
        for index in model.keys { _ = table.remove(index) }
        #expect(table.isEmpty && table.extent == 0)
        #expect(!table.isOccupied(0) && !table.isOccupied(-1))
    }

    @Test func vacantSlotsAreFilledBeforeNewOnesAreMade() {
        var table = SlotTable<Int>()
        let indexes = (0..<100).map { table.insert($0) }
        for index in indexes.prefix(50) { _ = table.remove(index) }
        for number in 0..<50 { _ = table.insert(number) }
        #expect(table.extent == 100)
    }

    @Test func oneSurvivorKeepsNoVacancies() {
        var table = SlotTable<Int>()
        let indexes = (0..<10_000).map { table.insert($0) }
        for index in indexes.dropFirst() { _ = table.remove(index) }
        #expect(table.count == 1 && table.extent == 1)
        #expect(table.capacity <= 256)
    }
}

@Suite(.timeLimit(.minutes(15)))
struct MarkTableTests {
    /// Random events, compared with a list that is searched through.
    @Test(arguments: 0..<50 as Range<UInt64>)
    func waitersAreResumedByMarkAndThenInOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = MarkTable<Int, Int>()
        var model: [(mark: Int, number: Int, id: MarkTable<Int, Int>.ID)] = []
        for number in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let mark = Int.random(in: 0..<20, using: &random)
                let id = table.enroll(for: mark)
                let outcome = table.park(id, number)
                #expect(outcome == nil)
                let index = model.lastIndex { $0.mark <= mark }.map { $0 + 1 } ?? 0
                model.insert((mark, number, id), at: index)
            case 5..<8:
                guard let index = model.indices.randomElement(using: &random) else { continue }
                let leaver = model.remove(at: index)
                let (waiter, late) = (table.leave(leaver.id), table.leave(leaver.id))
                #expect(waiter == leaver.number && late == nil, "a late event finds nothing")
            case 8:
                guard !model.isEmpty else { continue }
                let (first, expected) = (table.wakeFirst(), model.removeFirst().number)
                #expect(first == expected)
            default:
                let value = Int.random(in: 0..<20, using: &random)
                let woken = model.filter { $0.mark <= value }.map(\.number)
                model.removeAll { $0.mark <= value }
                let answer = table.wake(upTo: value)
                #expect(answer == woken)
            }
            #expect(table.count == model.count && table.lowest == model.first?.mark)
        }
    }

    /// In quadratic time this exceeds the time limit of the suite.
    @Test func manyWaitersMayLeaveNewestFirst() {
        var table = MarkTable<Int, Int>()
        let ids = (0..<100_000).map { table.enroll(for: $0) }
        for (number, id) in ids.enumerated() { _ = table.park(id, number) }
        for id in ids.reversed() { _ = table.leave(id) }
        #expect(table.count == 0)
        #expect(table.capacity <= 256, "a burst leaves nothing behind")
    }

    @Test func aBurstWithOneSurvivorLeavesNothingBehind() {
        var table = MarkTable<Int, Int>()
        let ids = (0..<10_000).map { table.enroll(for: $0) }
        for (number, id) in ids.enumerated() { _ = table.park(id, number) }
        let woken = table.wake(upTo: 9_998)
        #expect(woken.count == 9_999)
        #expect(table.count == 1 && table.lowest == 9_999)
        // The waiters' table keeps the places before the survivor.
        _ = table.wakeFirst()
        #expect(table.capacity <= 256)
    }
}

@Suite(.timeLimit(.minutes(15)))
struct TicketTests {
    @Test func itTellsTheSerialsOfOneSlotApart() {
        let ticket = Ticket(serial: 5, slot: 1 << 26 - 1)
        #expect(ticket.slot == 1 << 26 - 1)
        #expect(ticket.has(serial: 5))
        #expect(!ticket.has(serial: 4) && !ticket.has(serial: 6) && !ticket.has(serial: 5 + 1 << 37))
        // After 274,877,906,944 others.
        #expect(ticket.has(serial: 5 + 1 << 38))
    }

    #if SUBPROCESSES
    @Test func aTableHasAnEnd() async {
        await #expect(processExitsWith: .failure) { _ = Ticket(serial: 1, slot: 1 << 26) }
    }
    #endif
}
