import TestSupport
import Testing

@testable import TaskControlApexy

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct PublicationStateMachineTests {
    private enum Event: CaseIterable { case demand, finish, complete, cancel }

    /// Every sequence of 7 events: each effect happens at most once, in order, and none after a cancellation.
    @Test func everySequenceStartsAndDeliversOnce() {
        var sequences: [[Event]] = [[]]
        for _ in 0..<7 { sequences = sequences.flatMap { start in Event.allCases.map { start + [$0] } } }
        for sequence in sequences {
            var machine = PublicationStateMachine()
            // The effects that are left, in their order; none after a cancellation.
            var next: [Event] = [.demand, .finish, .complete]
            for event in sequence {
                let isEffect =
                    switch event {
                    case .demand: machine.demand()
                    case .finish: machine.finish()
                    case .complete: machine.complete()
                    case .cancel: false
                    }
                if event == .cancel {
                    machine.cancel()
                    next = []
                } else {
                    #expect(isEffect == (next.first == event), "\(sequence)")
                    if isEffect { next.removeFirst() }
                }
                #expect(machine.isEnded == next.isEmpty, "\(sequence)")
            }
        }
    }
}
