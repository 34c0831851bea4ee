#if Tracing
import TestSupport
import Testing

@_spi(Observers) @testable import TaskControl
@testable import TaskControlTelemetry

/// Whatever comes in whichever order: each span that is made is ended once, and none is kept for what is not there.
@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct TracingStateMachineTests {
    @Test func everySpanEndsOnceAndNoneIsKept() async {
        // In a task: a caller that joins is one.
        let steps = Driver().playEverySequence(upTo: 7) { _ in Driver.Step.allCases }
        #expect(steps > 50)
    }

    private struct Driver: MachineDriver {
        enum Step: CaseIterable { case begins, waits, isJoined, bringsJoiner, leaves, ends }

        private var machine = TracingStateMachine<Int>([.singleFlight])
        private var made = 0
        private var ended: Set<Int> = []
        /// The spans of joiners that have been made and not been brought.
        private var pending: [Int] = []
        private let subject = TaskEvent.Identity(1)
        private let task = TaskEvent.TaskIdentity.current

        var signature: Int {
            var hasher = Hasher()
            hasher.combine(machine.count)
            hasher.combine(pending.count)
            hasher.combine(ended.count)
            return hasher.finalize()
        }

        mutating func play(_ step: Step) {
            switch step {
            case .begins: if made == 0 { carryOut(.at(0, .singleFlight, .started, .began(.waiting))) }
            case .waits: carryOut(.at(0, .singleFlight, .waiting, .entered(.waiting)))
            // One task joins once, until it has left.
            case .isJoined: if made - ended.count < 2 { carryOut(.at(0, .singleFlight, .joined)) }
            case .bringsJoiner: bring()
            // A task leaves what it has joined, and its span is there by then.
            case .leaves: if pending.isEmpty { carryOut(.at(0, .singleFlight, .left)) }
            case .ends: carryOut(.at(0, .singleFlight, .completed, .ended(.completed)))
            }
            #expect(machine.count + pending.count + ended.count == made)
            var copy = machine
            #expect(copy.clear().count == machine.count && copy.count == 0)
        }

        private mutating func bring() {
            guard let span = pending.popLast(), let task else { return }
            if !machine.join(subject, task, span) { end(span) }
        }

        private mutating func carryOut(_ event: TaskEvent) {
            switch machine.receive(event) {
            case .nothing: break
            case .begin(let subject):
                made += 1
                machine.begin(subject, made)
            case .join(_, _, let flight):
                #expect(flight == 1)
                made += 1
                pending.append(made)
            case .mark(let span): #expect(!ended.contains(span))
            case .leave(let span): end(span)
            case .end(let span, _, let joiners, _):
                end(span)
                for joiner in joiners { end(joiner) }
            }
        }

        private mutating func end(_ span: Int) { #expect(ended.insert(span).inserted) }
    }
}
#endif
