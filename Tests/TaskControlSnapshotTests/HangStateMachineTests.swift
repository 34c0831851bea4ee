import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlSnapshot

/// The waits that are reported, their verdicts, and that each is reported once.
@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct HangStateMachineTests {
    private typealias Machine = HangStateMachine

    private func wait(_ id: UInt64, since seconds: Int) -> HangStateMachine.Wait {
        HangStateMachine.Wait(id: TaskEvent.Identity(id), number: id, since: .seconds(seconds))
    }

    @Test func everyShortSequenceAgreesWithTheModel() {
        let steps = HangDriver().playEverySequence(upTo: fullSize(12, inDebug: 9), \.possibleEvents)
        #expect(steps > 10_000)
    }

    @Test(arguments: Schedules.seeds(400, inDebug: 40))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = HangDriver()
        for _ in 0..<200 { driver.play(driver.possibleEvents.randomElement(using: &random)!) }
    }

    @Test func aWaitIsReportedOnceAndTheNextWaitOfTheSameCallAgain() {
        var machine = Machine(limit: .seconds(10), probeCount: 0)
        #expect(machine.unreported(of: [wait(1, since: 0)]) == [wait(1, since: 0)])
        #expect(machine.report([wait(1, since: 0)], stuck: []).slow == [wait(1, since: 0)])
        #expect(machine.unreported(of: [wait(1, since: 0)]) == [])
        #expect(machine.unreported(of: [wait(1, since: 7)]) == [wait(1, since: 7)])
    }

    @Test func aReportedWaitThatHasEndedIsForgotten() {
        var machine = Machine(limit: .seconds(10), probeCount: 0)
        _ = machine.report([wait(1, since: 0), wait(2, since: 0)], stuck: [])
        #expect(machine.unreported(of: [wait(2, since: 0)]) == [] && machine.reported == [wait(2, since: 0)])
        #expect(machine.unreported(of: []) == [] && machine.reported == [])
    }

    @Test func theLongestWaitIsFirstAndStuckOnesAreApart() {
        var machine = Machine(limit: .seconds(10), probeCount: 0)
        let waits = [wait(3, since: 2), wait(1, since: 5), wait(2, since: 1), wait(4, since: 2)]
        let (slow, hung) = machine.report(waits, stuck: [TaskEvent.Identity(1), TaskEvent.Identity(2)])
        #expect(slow == [wait(3, since: 2), wait(4, since: 2)] && hung == [wait(2, since: 1), wait(1, since: 5)])
    }

    @Test func aWaitIsTooLongWhenItHasLastedForTheLimit() {
        var machine = Machine(limit: .seconds(10), probeCount: 0)
        #expect(machine.look(at: .seconds(25), after: .seconds(10)).latestBeginning == .seconds(15))
    }

    @Test func aProbeIsOverdueOnceUntilItBegins() {
        var machine = Machine(limit: .seconds(10), probeCount: 2)
        func look(_ seconds: Int) -> Machine.Look { machine.look(at: .seconds(seconds), after: .seconds(10)) }
        #expect(look(0).toPost == [0, 1])
        machine.probeBegan(0)
        #expect(look(10) == Machine.Look(latestBeginning: .zero, overdue: [1], toPost: [0]))
        machine.probeBegan(0)
        #expect(look(20) == Machine.Look(latestBeginning: .seconds(10), toPost: [0]))
        machine.probeBegan(1)
        #expect(look(30) == Machine.Look(latestBeginning: .seconds(20), overdue: [0], toPost: [1]))
    }

    /// A laptop that was closed, a process in a debugger, an app in the background.
    @Test func theTimeInWhichTheProcessWasStoppedDoesNotCount() {
        var machine = Machine(limit: .seconds(10), probeCount: 1)
        #expect(machine.look(at: .zero, after: .zero).toPost == [0])
        #expect(machine.look(at: .seconds(500), after: .seconds(500)) == Machine.Look())
        #expect(machine.look(at: .seconds(509), after: .seconds(9)).latestBeginning == nil)
        let look = machine.look(at: .seconds(519), after: .seconds(10))
        #expect(look == Machine.Look(latestBeginning: .seconds(509)))
        // Late by a second: the thread had to wait for a processor.
        #expect(machine.look(at: .seconds(530), after: .seconds(11)).latestBeginning == .seconds(520))
    }
}

/// The machine, and a model that measures the age of each wait without the times in which the process was stopped.
private struct HangDriver: MachineDriver {
    enum Event: Hashable {
        case advance, look, probeBegins, waitBegins(Int), waitEnds(Int), getsStuck(Int), getsFree(Int)
    }

    private struct Model: Hashable {
        var since: Int
        var number: UInt64
        var isStuck = false
        var isReported = false
    }

    private enum ProbeModel { case none, posted, reported }

    private static let limit = 10
    private var machine = HangStateMachine(limit: .seconds(HangDriver.limit), probeCount: 1)
    private var now = 0
    private var lastLook: Int?
    private var lastStop: Int?
    private var waits: [Model?] = [nil, nil]
    private var probe = ProbeModel.none
    private var number: UInt64 = 0

    var signature: Int {
        var hasher = Hasher()
        hasher.combine(lastLook.map { min(now - $0, 40) })
        hasher.combine(lastStop.map { min(now - $0, 40) })
        hasher.combine(probe)
        for wait in waits {
            hasher.combine(wait.map { min(now - $0.since, 40) })
            hasher.combine(wait.map { [$0.isStuck, $0.isReported] })
        }
        return hasher.finalize()
    }

    var possibleEvents: [Event] {
        var events = [Event.advance]
        if lastLook.map({ now - $0 >= Self.limit }) ?? true { events.append(.look) }
        if probe != .none { events.append(.probeBegins) }
        for (index, wait) in waits.enumerated() {
            guard let wait else { events.append(.waitBegins(index)); continue }
            events += [.waitEnds(index), wait.isStuck ? .getsFree(index) : .getsStuck(index)]
        }
        return events
    }

    mutating func play(_ event: Event) {
        switch event {
        case .advance: now += 5
        case .look: look()
        case .probeBegins:
            machine.probeBegan(0)
            probe = .none
        case .waitBegins(let index):
            number += 1
            waits[index] = Model(since: now, number: number)
        case .waitEnds(let index): waits[index] = nil
        case .getsStuck(let index): waits[index]?.isStuck = true
        case .getsFree(let index): waits[index]?.isStuck = false
        }
    }

    private func wait(_ index: Int) -> HangStateMachine.Wait? {
        waits[index].map {
            HangStateMachine.Wait(id: TaskEvent.Identity(UInt64(index)), number: $0.number, since: .seconds($0.since))
        }
    }

    private mutating func look() {
        let pause = lastLook.map { now - $0 } ?? 0
        let isStop = pause > Self.limit + 1
        if isStop { lastStop = now }
        lastLook = now
        let look = machine.look(at: .seconds(now), after: .seconds(pause))
        #expect(look.overdue == (probe == .posted && !isStop ? [0] : []))
        #expect(look.toPost == (probe == .none ? [0] : []))
        if probe == .none { probe = .posted } else if !isStop { probe = .reported }

        var (slow, hung): ([Int], [Int]) = ([], [])
        for (index, wait) in waits.enumerated() {
            guard let wait, now - max(wait.since, lastStop ?? .min) >= Self.limit else { continue }
            if wait.isReported { continue }
            waits[index]?.isReported = true
            if wait.isStuck { hung.append(index) } else { slow.append(index) }
        }
        var found: (slow: [HangStateMachine.Wait], hung: [HangStateMachine.Wait]) = ([], [])
        if let latest = look.latestBeginning {
            let long = waits.indices.compactMap(wait).filter { $0.since <= latest }
            let stuck = waits.indices.filter { waits[$0]?.isStuck == true }.map { TaskEvent.Identity(UInt64($0)) }
            found = machine.report(machine.unreported(of: long), stuck: Set(stuck))
        }
        #expect(Set(found.slow) == Set(slow.compactMap(wait)), "\(self)")
        #expect(Set(found.hung) == Set(hung.compactMap(wait)), "\(self)")
    }
}
