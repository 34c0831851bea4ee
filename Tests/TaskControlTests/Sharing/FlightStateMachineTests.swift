import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct FlightStateMachineTests {
    /// Every sequence of events with few callers agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [
        (
            runsToCompletion: false, callers: 3, keys: [1] as [Int?], levels: [] as [UInt8], nesting: false,
            depth: fullSize(12, inDebug: 6)
        ),
        (
            runsToCompletion: true, callers: 3, keys: [1] as [Int?], levels: [] as [UInt8], nesting: false,
            depth: fullSize(10, inDebug: 7)
        ),
        (
            runsToCompletion: false, callers: 3, keys: [1, 2] as [Int?], levels: [] as [UInt8], nesting: true,
            depth: fullSize(6, inDebug: 4)
        ),
        (
            runsToCompletion: false, callers: 4, keys: [1, 2] as [Int?], levels: [] as [UInt8], nesting: true,
            depth: fullSize(5, inDebug: 4)
        ),
        (
            runsToCompletion: false, callers: 2, keys: [1, nil] as [Int?], levels: [9], nesting: false,
            depth: fullSize(9, inDebug: 6)
        ),
    ])
    func everyShortSequenceAgreesWithTheModel(
        runsToCompletion: Bool,
        callers: Int,
        keys: [Int?],
        levels: [UInt8],
        nesting: Bool,
        depth: Int
    ) {
        let steps = FlightDriver(runsToCompletion: runsToCompletion).playEverySequence(upTo: depth) {
            $0.possibleEvents(callers: callers, keys: keys, levels: levels, nesting: nesting)
        }
        #expect(steps > 1_000)
    }

    /// The same with flights that continue without callers, such as those of a cache.
    @Test(arguments: [
        (runsToCompletion: false, keys: [1], callers: 2, kept: 2, depth: fullSize(9, inDebug: 5)),
        (runsToCompletion: true, keys: [1], callers: 2, kept: 2, depth: fullSize(8, inDebug: 5)),
        (runsToCompletion: false, keys: [1, 2], callers: 2, kept: 3, depth: fullSize(6, inDebug: 4)),
    ])
    func everyShortSequenceWithKeptFlightsAgreesWithTheModel(
        runsToCompletion: Bool,
        keys: [Int?],
        callers: Int,
        kept: Int,
        depth: Int
    ) {
        let steps = FlightDriver(runsToCompletion: runsToCompletion).playEverySequence(upTo: depth) {
            $0.possibleEvents(callers: callers, keys: keys, levels: [], nesting: false, kept: kept)
        }
        #expect(steps > 1_000)
    }

    /// The work of a flight waits for another flight: that is a wait like that of a caller inside it.
    @Test func aFlightDoesNotWaitForAFlightThatWaitsForIt() {
        var machine = FlightMachine(runsToCompletion: false)
        guard case .begun(_, let first) = machine.join(1, 1), case .begun(_, let second) = machine.join(2, 2),
            case .begun(let third, let other) = machine.join(3, inside: [second], 3)
        else { return #expect(Bool(false)) }
        let mayWait = (machine.wait(other, behind: first), machine.wait(first, behind: second))
        #expect(mayWait == (true, false), "the second waits for the first, by way of the third")
        guard case .reentrant = machine.join(2, inside: [first], 4) else { return #expect(Bool(false)) }
        machine.checkInvariants()
        machine.stopWaiting(other, behind: first)
        let mayWaitNow = machine.wait(first, behind: second)
        #expect(mayWaitNow)
        machine.stopWaiting(first, behind: second)
        _ = machine.leave(third, of: 3)
        for (key, id) in [(1, first), (2, second), (3, other)] { _ = machine.finish(id, of: key) }
        machine.checkInvariants()
        let mayWaitForNothing = machine.wait(other, behind: first)
        #expect(mayWaitForNothing, "a flight that has ended is not waited for")
        machine.checkInvariants()
    }

    /// Long programs with many callers, which the search above does not reach.
    @Test(arguments: Schedules.seeds(40, inDebug: 8))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = FlightDriver(runsToCompletion: seed.isMultiple(of: 4))
        for _ in 0..<400 {
            let events = driver.possibleEvents(callers: 60, keys: [1, 2, 3, nil], levels: [9, 17], nesting: true)
            // Most may leave or end at any time, and few do.
            let few = events.filter {
                switch $0 {
                case .leave, .finish: random.next() % 20 == 0
                case .cancelAll, .forget: random.next() % 50 == 0
                default: true
                }
            }
            driver.play((few.isEmpty ? events : few).randomElement(using: &random)!)
        }
    }

    /// A flight that begins in the slot of one that has ended hears nothing of that one's late events.
    @Test func aLateWordIsNotTakenForAnothers() {
        var machine = FlightMachine(runsToCompletion: false)
        guard case .begun(let old, let oldFlight) = machine.join(1, 1) else { return #expect(Bool(false)) }
        #expect(machine.park(old, 10) == nil)
        #expect(machine.finish(oldFlight, of: 1).first == 10)
        guard case .begun(_, let newFlight) = machine.join(1, 2) else { return #expect(Bool(false)) }
        #expect(newFlight.slot == oldFlight.slot, "or this tests nothing")
        #expect(machine.leave(old, of: 1).cancelling == nil)
        #expect(machine.raise(oldFlight, to: 99) == nil)
        #expect(machine.attach(newFlight, 2, level: 0).level == 0)
        #expect(machine.raise(newFlight, to: 9) == 2)
        #expect(machine.raise(newFlight, to: 9) == nil && machine.raise(newFlight, to: 5) == nil, "it only rises")
        #expect(machine.count == 1 && machine.callerCount == 1)
    }

    /// Of the flights that a caller is inside of, the innermost waits for what the caller waits for.
    @Test(arguments: [true, false])
    func aFlightCannotJoinANestedFlightThatWaitsForIt(beginsTheOther: Bool) {
        var machine = FlightMachine(runsToCompletion: false)
        guard case .begun(_, let outer) = machine.join(1, 1),
            case .begun(_, let nested) = machine.join(2, inside: [outer], 2),
            case .begun(_, let last) = machine.join(3, 3)
        else { return #expect(Bool(false)) }
        if beginsTheOther {
            guard case .begun(_, let other) = machine.join(4, inside: [outer, nested], 4),
                case .joined = machine.join(3, inside: [other], 5)
            else { return #expect(Bool(false)) }
        } else {
            guard case .joined = machine.join(3, inside: [outer, nested], 4) else {
                return #expect(Bool(false))
            }
        }
        guard case .reentrant = machine.join(2, inside: [last], 6) else {
            return #expect(Bool(false), "the last flight would wait for itself")
        }
    }

    @Test func aFlightMayJoinAnotherThatNoLongerWaitsForIt() {
        var machine = FlightMachine(runsToCompletion: false)
        guard case .begun(_, let outer) = machine.join(1, 1),
            case .begun(_, let inner) = machine.join(2, 2),
            case .joined(let first, _, _) = machine.join(2, inside: [outer], 3),
            case .joined(let second, _, _) = machine.join(2, inside: [outer], 4)
        else { return #expect(Bool(false)) }
        for caller in [first, second] {
            guard case .reentrant = machine.join(1, inside: [inner], 5) else {
                return #expect(Bool(false), "the outer flight still waits for the inner flight")
            }
            _ = machine.leave(caller, of: 2)
        }
        guard case .joined = machine.join(1, inside: [inner], 6) else {
            return #expect(Bool(false), "the outer flight waits no longer")
        }
    }

    /// A flight that asks for many others: the end of each costs the same, however many are left.
    @Test func aFlightThatWaitsForManyOthersCostsLittle() {
        var machine = FlightMachine(runsToCompletion: false)
        guard case .begun(_, let outer) = machine.join(0, 0) else { return #expect(Bool(false)) }
        let inner = (1...5_000).map { number -> (FlightMachine.ID, FlightMachine.Caller) in
            guard case .begun(let caller, let id) = machine.join(number, inside: [outer], number) else {
                preconditionFailure("It is the first.")
            }
            return (id, caller)
        }
        for (number, (id, caller)) in inner.enumerated() {
            #expect(machine.park(caller, number) == nil)
            if number.isMultiple(of: 2) { #expect(machine.leave(caller, of: number + 1).waiter == number) }
            _ = machine.finish(id, of: number + 1)
        }
        #expect(machine.count == 1)
        #expect(machine.capacity < 1_000, "a burst leaves nothing behind")
    }

    @Test func aFlightThatWasCancelledBeforeItsTaskBeganDoesNotBegin() {
        var machine = FlightMachine(runsToCompletion: false)
        guard case .begun(_, let id) = machine.join(0, 0) else { return #expect(Bool(false)) }
        #expect(machine.mayBegin(id))
        _ = machine.cancelAll(because: .unknown)
        #expect(!machine.mayBegin(id))
        _ = machine.finish(id, of: 0)
        #expect(!machine.mayBegin(id))
    }
}
