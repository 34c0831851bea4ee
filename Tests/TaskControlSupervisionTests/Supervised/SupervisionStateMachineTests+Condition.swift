import TaskControl
import TestSupport
import Testing

@testable import TaskControlSupervision

/// A child that waits for a condition before it is restarted.
extension SupervisionStateMachineTests {
    private enum Event: CaseIterable {
        case met, unmet, end, tick
    }

    private static func failed(_ strategy: Supervisor.Strategy, isConditional: Bool = true) -> SupervisionStateMachine {
        var machine = SupervisionStateMachine(strategy, .unlimited)
        _ = machine.add(.init(isConditional: isConditional))
        _ = machine.begin()
        _ = machine.next(at: .zero)
        _ = machine.began(0, run: 1)
        _ = machine.ended(0, run: 1, .threw)
        _ = machine.next(at: .zero)
        _ = machine.restart(0, after: .seconds(2), at: .zero)
        return machine
    }

    /// All short sequences of reports and of time, with a delay of 2: the run begins after the delay, if the last report
    /// says so or none follows, or with the first change to `true`.
    @Test(arguments: Supervisor.Strategy.allCases)
    func everySequenceOfReportsDecidesWhenTheRunBegins(strategy: Supervisor.Strategy) {
        var sequences: [[Event]] = [[]]
        for _ in 0..<fullSize(7, inDebug: 5) {
            sequences += sequences.flatMap { sequence in Event.allCases.map { sequence + [$0] } }
            sequences = Array(Set(sequences))
        }
        for sequence in sequences {
            var machine = Self.failed(strategy)
            var (time, last, hasEnded, isEarly) = (0, Bool?.none, false, false)
            for event in sequence {
                switch event {
                case .met:
                    hasEnded = false
                    if last == false { isEarly = true }
                    last = true
                    _ = machine.report(0, run: 1, true)
                case .unmet:
                    (hasEnded, last) = (false, false)
                    _ = machine.report(0, run: 1, false)
                case .end:
                    (hasEnded, last) = (true, nil)
                    _ = machine.report(0, run: 1, nil)
                case .tick: time += 1
                }
                let mayBegin = (hasEnded || last == true) && (isEarly || time >= 2)
                let action = machine.next(at: .seconds(time))
                if mayBegin {
                    expect(action, .start(0, run: 2), "\(sequence)")
                    break
                }
                let isHeld = !hasEnded && last != true
                expect(action, .wait(until: isHeld ? nil : .seconds(2)), "\(sequence)")
            }
        }
    }

    @Test func withoutAConditionReportsHaveNoEffect() {
        var machine = Self.failed(.one, isConditional: false)
        expect(machine.report(0, run: 1, false), nil)
        expect(machine.next(at: .zero), .wait(until: .seconds(2)))
        expect(machine.next(at: .seconds(2)), .start(0, run: 2))
    }

    @Test func aReportForAnEarlierRunHasNoEffect() {
        var machine = Self.failed(.one)
        _ = machine.report(0, run: 1, true)
        expect(machine.next(at: .seconds(2)), .start(0, run: 2))
        expect(machine.report(0, run: 1, false), nil, "the run has begun")
        _ = machine.began(0, run: 2)
        _ = machine.ended(0, run: 2, .threw)
        _ = machine.next(at: .seconds(2))
        expect(machine.restart(0, after: .zero, at: .seconds(2)), true)
        expect(machine.report(0, run: 1, true), nil)
        expect(machine.next(at: .seconds(9)), .wait(until: nil))
    }

    @Test func aReportWakesTheCoordinator() {
        var machine = Self.failed(.one)
        _ = machine.next(at: .zero)
        expect(machine.park(1), false)
        expect(machine.report(0, run: 1, false), 1)
    }

    @Test func aHeldChildCanBeStopped() {
        var machine = Self.failed(.one)
        expect(machine.stop(0).answer, .stops)
        expect(machine.next(at: .zero), .down(0, isFinal: true))
        expect(machine.report(0, run: 1, true), nil)
    }

    /// With the strategies that restart siblings, they do not wait for the rest of a delay that the condition has ended.
    @Test func aConditionEndsTheDelayOfTheSiblingsToo() {
        var machine = SupervisionStateMachine(.all, .unlimited)
        for child in 0..<2 { expect(machine.add(.init(isConditional: child == 1)).child, child) }
        _ = machine.begin()
        for child in 0..<2 {
            expect(machine.next(at: .zero), .start(child, run: 1))
            _ = machine.began(child, run: 1)
            _ = machine.ready(child, run: 1)
            expect(machine.next(at: .zero), .announceReady(child))
        }
        _ = machine.ended(1, run: 1, .threw)
        expect(machine.next(at: .zero), .failed(1, failures: 1, mayRestart: true))
        expect(machine.restart(1, after: .seconds(9), at: .zero), true)
        expect(machine.next(at: .zero), .requestStop(0))
        expect(machine.next(at: .zero), .cancel(0, isFinal: false))
        _ = machine.ended(0, run: 1, .threw)
        expect(machine.next(at: .zero), .down(0, isFinal: false))
        expect(machine.next(at: .zero), .wait(until: .seconds(9)))
        _ = machine.report(1, run: 1, false)
        _ = machine.report(1, run: 1, true)
        expect(machine.next(at: .seconds(1)), .start(0, run: 2))
    }
}
