import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct PromiseStateMachineTests {
    /// Every sequence of events agrees with the model; sequences that lead to the same state continue as one.
    @Test func everyShortSequenceAgreesWithTheModel() {
        let steps = PromiseDriver().playEverySequence(upTo: 12) { $0.possibleEvents }
        #expect(steps > 500)
    }
}

private enum PromiseEvent {
    case enroll
    case park(Int)
    case leave(Int)
    case settle
}

/// A promise with up to three callers, each of which parks once, and may leave more than once.
private struct PromiseDriver: MachineDriver {
    private enum Caller: Hashable {
        case enrolled, parked, gone
        /// The outcome came before the caller has parked.
        case called(WaitOutcome)
    }

    private var machine = PromiseStateMachine()
    private var ids: [PromiseStateMachine.ID] = []
    private var callers: [Caller] = []
    private var isSettled = false

    var signature: Int {
        var hasher = Hasher()
        hasher.combine(callers)
        hasher.combine(isSettled)
        return hasher.finalize()
    }

    var possibleEvents: [PromiseEvent] {
        var events: [PromiseEvent] = [.settle]
        if callers.count < 3 { events.append(.enroll) }
        for (number, caller) in callers.enumerated() {
            events.append(.leave(number))
            if caller != .parked, caller != .gone { events.append(.park(number)) }
        }
        return events
    }

    mutating func play(_ event: PromiseEvent) {
        switch event {
        case .enroll:
            let id = machine.enroll()
            #expect((id == nil) == isSettled, "a caller waits only for a result that is not set")
            guard let id else { return }
            ids.append(id)
            callers.append(.enrolled)
        case .park(let number):
            let outcome = machine.park(ids[number], Word(number))
            if case .called(let expected) = callers[number] {
                #expect(outcome == expected, "the first outcome counts")
                callers[number] = .gone
            } else {
                #expect(outcome == nil)
                callers[number] = .parked
            }
        case .leave(let number):
            let waiter = machine.leave(ids[number])
            #expect(waiter?.number == (callers[number] == .parked ? number : nil))
            if callers[number] == .parked { callers[number] = .gone }
            if callers[number] == .enrolled { callers[number] = .called(.left) }
        case .settle:
            let waiters = machine.settle()
            let expected = callers.indices.filter { callers[$0] == .parked }
            #expect(waiters?.map(\.number) == (isSettled ? nil : expected), "in the order of enrolling, once")
            if isSettled { return }
            isSettled = true
            callers = callers.map { $0 == .parked ? .gone : $0 == .enrolled ? .called(.reached) : $0 }
        }
        #expect(machine.isSettled == isSettled)
        #expect(machine.waiterCount == callers.count { $0 != .gone }, "a caller that has its outcome is forgotten")
    }
}
