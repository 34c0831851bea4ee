import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct HedgeStateMachineTests {
    /// Every sequence of events agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [1, 2, 3, 4])
    func everyShortSequenceAgreesWithTheModel(attempts: Int) {
        for isTimed in [true, false] {
            let driver = HedgeDriver(attempts: attempts, isTimed: isTimed)
            let steps = driver.playEverySequence(upTo: fullSize(14, inDebug: 11)) { $0.possibleEvents() }
            #expect(steps > 5)
        }
    }

    /// The attempt that took the place of the timer's has no timer of its own.
    @Test func aTimerWhoseAttemptHasBegunBeforeItFiresBeginsNone() {
        var machine = HedgeStateMachine(maxAttempts: 3)
        let first = machine.start(isTimed: true)
        let failed = machine.failed(isFinal: false, hint: nil)
        let second = machine.start(isTimed: false)
        #expect(failed == .ask && second == .init(attempt: 2, timer: nil))
        let late = machine.timerFired(first.timer!)
        #expect(late == .wait)
        machine.checkInvariants()
    }

    /// The caller is asking the budget, and no attempt runs.
    @Test func aTimerThatFailsWhileAnAttemptIsWantedEndsNothing() {
        var machine = HedgeStateMachine(maxAttempts: 2)
        let first = machine.start(isTimed: true)
        let failed = machine.failed(isFinal: false, hint: nil)
        let late = machine.timerFailed(first.timer!)
        #expect(failed == .ask && late == .wait && !machine.isDecided)
        let second = machine.start(isTimed: true)
        #expect(second == .init(attempt: 2, timer: nil))
    }
}

private enum HedgeEvent: Hashable {
    case value, error(isFinal: Bool, hint: Int?, isPaid: Bool), timer(Int, isPaid: Bool), clockFails(Int), cancel
}

/// The attempts and timers as lists.
private struct HedgeModel: Hashable {
    let attempts: Int
    let isTimed: Bool
    var started = 0
    var running = 0
    /// All timers that have not fired, of which the last is current, if that is `isCurrent`.
    var timers: [Int] = []
    var nextTimer = 1
    /// The current timer, and whether it is that of a hint.
    var current: Int?
    var isHint = false
    var mayBegin = true
    var isDecided = false

    mutating func addTimer(isHint: Bool) {
        (current, self.isHint) = (nextTimer, isHint)
        timers.append(nextTimer)
        nextTimer += 1
    }

    mutating func begin() {
        started += 1
        running += 1
        if isTimed, started < attempts { addTimer(isHint: false) }
    }
}

private struct HedgeDriver: MachineDriver {
    private var machine: HedgeStateMachine
    private var model: HedgeModel

    init(attempts: Int, isTimed: Bool) {
        machine = HedgeStateMachine(maxAttempts: attempts)
        model = HedgeModel(attempts: attempts, isTimed: isTimed)
        begin()
    }

    var signature: Int { model.hashValue }

    func possibleEvents() -> [HedgeEvent] {
        var events: [HedgeEvent] = [.cancel]
        if model.running > 0 {
            events.append(.value)
            for isPaid in [true, false] {
                events += [nil, -1, 1, 61].map { .error(isFinal: false, hint: $0, isPaid: isPaid) }
            }
            events.append(.error(isFinal: true, hint: nil, isPaid: true))
        }
        for timer in model.timers {
            events += [.timer(timer, isPaid: true), .timer(timer, isPaid: false), .clockFails(timer)]
        }
        return events
    }

    private mutating func begin() {
        model.begin()
        let start = machine.start(isTimed: model.isTimed)
        #expect(start.attempt == model.started)
        #expect(start.timer == (model.isTimed && model.started < model.attempts ? model.current : nil))
    }

    /// The model says that another attempt is wanted.
    private mutating func ask(_ next: HedgeStateMachine.Next, isPaid: Bool) {
        guard next == .ask else {
            Issue.record("\(next), and an attempt is wanted")
            return
        }
        if isPaid { return begin() }
        model.mayBegin = false
        let next = machine.refuse()
        expectEnd(next)
    }

    /// The call has failed if nothing runs.
    private mutating func expectEnd(_ next: HedgeStateMachine.Next) {
        let hasFailed = model.running == 0 && !model.isDecided
        #expect(next == (hasFailed ? .fail : .wait))
        if hasFailed { model.isDecided = true }
    }

    private var isWanted: Bool { !model.isDecided && model.mayBegin && model.started < model.attempts }

    mutating func play(_ event: HedgeEvent) {
        switch event {
        case .cancel:
            model.mayBegin = false
            machine.cancel()
        case .value:
            model.running -= 1
            let isWinner = machine.succeeded()
            #expect(isWinner == !model.isDecided)
            model.isDecided = true
        case .error(let isFinal, let hint, let isPaid):
            fail(isFinal, hint, isPaid)
        case .timer(let number, let isPaid):
            let isCurrent = endTimer(number)
            let next = machine.timerFired(number)
            guard isCurrent else { return #expect(next == .wait) }
            if isWanted { ask(next, isPaid: isPaid) } else { expectEnd(next) }
        case .clockFails(let number):
            let isCurrent = endTimer(number)
            let next = machine.timerFailed(number)
            if isCurrent { expectEnd(next) } else { #expect(next == .wait) }
        }
        #expect(machine.isDecided == model.isDecided && machine.running == model.running)
        machine.checkInvariants()
    }

    private mutating func endTimer(_ number: Int) -> Bool {
        model.timers.removeAll { $0 == number }
        guard model.current == number else { return false }
        (model.current, model.isHint) = (nil, false)
        return true
    }

    private mutating func fail(_ isFinal: Bool, _ hint: Int?, _ isPaid: Bool) {
        model.running -= 1
        let next = machine.failed(isFinal: isFinal, hint: hint.map { .seconds($0) })
        if model.isDecided { return #expect(next == .wait) }
        if isFinal {
            model.isDecided = true
            return #expect(next == .fail)
        }
        guard isWanted, hint ?? 0 <= 60 else {
            model.mayBegin = false
            return expectEnd(next)
        }
        if let hint, hint > 0 {
            model.addTimer(isHint: true)
            return #expect(next == .sleep(.seconds(hint), timer: model.current!))
        }
        if model.isHint { return #expect(next == .wait) }
        // An attempt that begins at once takes the place of the timer's.
        model.current = nil
        ask(next, isPaid: isPaid)
    }
}
