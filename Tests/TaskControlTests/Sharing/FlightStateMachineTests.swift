import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct FlightStateMachineTests {
    /// Every sequence of events with few callers agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [
        (
            runsToCompletion: false, callers: 3, keys: [1] as [Int?], levels: [] as [UInt8],
            depth: fullSize(12, inDebug: 6)
        ),
        (
            runsToCompletion: true, callers: 3, keys: [1] as [Int?], levels: [] as [UInt8],
            depth: fullSize(10, inDebug: 7)
        ),
        (
            runsToCompletion: false, callers: 3, keys: [1, 2] as [Int?], levels: [] as [UInt8],
            depth: fullSize(7, inDebug: 5)
        ),
        (
            runsToCompletion: false, callers: 4, keys: [1, 2] as [Int?], levels: [] as [UInt8],
            depth: fullSize(6, inDebug: 5)
        ),
        (
            runsToCompletion: false, callers: 2, keys: [1, nil] as [Int?], levels: [9],
            depth: fullSize(9, inDebug: 6)
        ),
    ])
    func everyShortSequenceAgreesWithTheModel(
        runsToCompletion: Bool,
        callers: Int,
        keys: [Int?],
        levels: [UInt8],
        depth: Int
    ) {
        let steps = FlightDriver(runsToCompletion: runsToCompletion).playEverySequence(upTo: depth) {
            $0.possibleEvents(callers: callers, keys: keys, levels: levels)
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
            $0.possibleEvents(callers: callers, keys: keys, levels: [], kept: kept)
        }
        #expect(steps > 1_000)
    }

    /// The same with callers that wait for the end of all flights, and with a machine that is closed.
    @Test(arguments: [
        (keys: [1] as [Int?], callers: 2, drains: 2, levels: [] as [UInt8], depth: fullSize(8, inDebug: 5)),
        (keys: [1, 2] as [Int?], callers: 2, drains: 1, levels: [9], depth: fullSize(6, inDebug: 4)),
    ])
    func everyShortSequenceWithDrainsAgreesWithTheModel(
        keys: [Int?],
        callers: Int,
        drains: Int,
        levels: [UInt8],
        depth: Int
    ) {
        for kept in 0...1 {
            let steps = FlightDriver(runsToCompletion: false).playEverySequence(upTo: depth) {
                $0.possibleEvents(callers: callers, keys: keys, levels: levels, kept: kept, drains: drains)
            }
            #expect(steps > 1_000)
        }
    }

    /// Long programs with many callers, which the search above does not reach.
    @Test(arguments: Schedules.seeds(40, inDebug: 8))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = FlightDriver(runsToCompletion: seed.isMultiple(of: 4))
        for _ in 0..<400 {
            let events = driver.possibleEvents(callers: 60, keys: [1, 2, 3, nil], levels: [9, 17])
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
        guard case .begun(let old, let oldFlight) = machine.join(_ErasedKey(1), 1) else { return #expect(Bool(false)) }
        #expect(machine.park(old, 10) == nil)
        #expect(machine.finish(oldFlight).first == 10)
        guard case .begun(_, let newFlight) = machine.join(_ErasedKey(1), 2) else { return #expect(Bool(false)) }
        #expect(newFlight.slot == oldFlight.slot, "or this tests nothing")
        #expect(machine.leave(old).cancelling == nil)
        #expect(machine.raise(oldFlight, to: 99) == nil)
        #expect(machine.attach(newFlight, 2, level: 0) == 0)
        #expect(machine.raise(newFlight, to: 9) == 2)
        #expect(machine.raise(newFlight, to: 9) == nil && machine.raise(newFlight, to: 5) == nil, "it only rises")
        #expect(machine.count == 1 && machine.callerCount == 1)
    }

    @Test func aFlightThatWasCancelledBeforeItsTaskBeganDoesNotBegin() {
        var machine = FlightMachine(runsToCompletion: false)
        guard case .begun(_, let id) = machine.join(_ErasedKey(0), 0) else { return #expect(Bool(false)) }
        _ = machine.cancelAll()
        #expect(machine.begin(id, 0, level: 0) == nil)
        _ = machine.finish(id)
        #expect(machine.begin(id, 0, level: 0) == nil)
    }

    @Test func aFirstCallerThatHasLeftBeforeItParkedIsToldSoAfterTheEndOfItsFlight() {
        var machine = FlightMachine(runsToCompletion: false)
        guard case .begun(let left, let id) = machine.join(_ErasedKey(0), 0) else { return #expect(Bool(false)) }
        #expect(machine.leave(left).cancelled == id)
        #expect(machine.finish(id).isUnheard)
        guard case .begun(let next, let nextID) = machine.join(_ErasedKey(0), 1) else { return #expect(Bool(false)) }
        #expect(!machine.finish(nextID).isUnheard)
        #expect(machine.park(left, 1) == .left)
        #expect(machine.park(next, 2) == .reached)
        #expect(machine.waitCount == 0)
    }

    @Test func aTaskThatBeginsBeforeItIsAttachedLearnsThatItsFlightWasRaised() {
        var machine = FlightMachine(runsToCompletion: false)
        guard case .begun(_, let id) = machine.join(_ErasedKey(0), level: 5, 0) else { return #expect(Bool(false)) }
        #expect(machine.raise(id, to: 9) == nil, "there is no task to raise")
        #expect(machine.begin(id, 1, level: 5) == 9)
        #expect(machine.attach(id, 2, level: 5) == 0, "it has attached itself")
        #expect(machine.raise(id, to: 17) == 1)
    }
}
