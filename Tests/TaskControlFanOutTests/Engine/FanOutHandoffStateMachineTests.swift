import TaskControl
import TestSupport
import Testing

@testable import TaskControlFanOut

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct FanOutHandoffStateMachineTests {
    private enum Event: CaseIterable {
        case finish, take, park
    }

    /// Every sequence of events agrees with a list and a flag. The caller that waits does not take.
    @Test(arguments: [fullSize(12, inDebug: 9)])
    func everyShortSequenceAgreesWithAList(length: Int) {
        var sequences: [[Event]] = [[]]
        for _ in 0..<length { sequences = sequences.flatMap { start in Event.allCases.map { start + [$0] } } }
        for sequence in sequences { Self.play(sequence) }
    }

    private static func play(_ sequence: [Event]) {
        var machine = FanOutHandoffStateMachine()
        let caller: Word = 1
        var finished: [Int] = []
        var isParked = false
        for (number, event) in sequence.enumerated() {
            switch event {
            case .finish:
                let resumed = machine.finish(.init(place: number, waiter: nil))
                precondition(resumed == (isParked ? caller : nil), "The first result resumes the caller.")
                finished.append(number)
                isParked = false
            case .take:
                if isParked { continue }
                var list: [FanOutHandoffStateMachine.Finished] = []
                machine.take(into: &list)
                precondition(list.map(\.place) == finished, "All results are taken, in their order.")
                finished = []
            case .park:
                if isParked { continue }
                isParked = machine.park(caller)
                precondition(isParked == finished.isEmpty, "The caller waits if there is no result.")
            }
            machine.checkInvariants()
        }
    }
}
