#if Metrics
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlTelemetry

/// The measurements that events lead to.
@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct MetricsStateMachineTests {
    private func measured(_ events: [TaskEvent], hasOwnerNames: Bool = false) -> [[String]] {
        var machine = MetricsStateMachine(hasOwnerNames: hasOwnerNames)
        return events.map { machine.receive($0).map(\.text) }
    }

    @Test func aTaskOfAQueueIsMeasuredFromItsPlaceToItsEnd() {
        let measurements = measured([
            .at(1, .fifoQueue, .enqueued, .began(.waiting)), .at(2, .fifoQueue, .waiting, .entered(.waiting)),
            .at(4, .fifoQueue, .started, .entered(.running)),
            .at(9, .fifoQueue, .completed, .ended(.completed)),
        ])
        #expect(
            measurements == [
                ["+1 started FIFOQueue", "up in_flight FIFOQueue", "up waiting FIFOQueue"], [],
                ["down waiting FIFOQueue", "3 s wait_time FIFOQueue"],
                ["5 s run_time FIFOQueue", "down in_flight FIFOQueue", "+1 ended FIFOQueue completed"],
            ]
        )
    }

    @Test func aRetryIsMeasuredByAttemptsAndDelays() {
        let measurements = measured([
            .at(0, .retry, .failed, .began(.running)), .at(1, .retry, .waiting, .entered(.waiting)),
            .at(3, .retry, .retrying, .entered(.running)),
            .at(7, .retry, .failed), .at(8, .retry, .gaveUp, .ended(.failed)),
        ])
        #expect(
            measurements == [
                ["+1 started retry", "up in_flight retry"], ["1 s run_time retry", "up waiting retry"],
                ["+1 retries", "down waiting retry", "2 s wait_time retry"], [],
                ["5 s run_time retry", "down in_flight retry", "+1 ended retry failed"],
            ]
        )
    }

    @Test func whatComesAfterTheEndOrWithoutABeginningMovesNothing() {
        for primitive in TaskEvent.Primitive.examples {
            for kind in TaskEvent.Kind.examples where kind != .joined && kind != .retrying {
                for change in TaskEvent.Change.examples where change.isLater {
                    let event = TaskEvent.at(5, primitive, kind, change)
                    #expect(measured([event]) == [[]])
                    let afterwards = measured([
                        .at(0, primitive, .added, .began(.waiting)), .at(1, primitive, .completed, .ended(.completed)),
                        event, .at(6, primitive, kind, .ended(.completed)),
                    ])
                    #expect(afterwards[2...] == [[], []])
                }
            }
        }
    }

    @Test func aWaitThatWasGivenUpHasNoTime() {
        let began = TaskEvent.at(0, .asyncSemaphore, .waiting, .began(.waiting))
        for (kind, outcome) in [(.skipped, .skipped), (.left, .cancelled)] as [(TaskEvent.Kind, TaskEvent.Outcome)] {
            let last = measured([began, .at(1, .asyncSemaphore, kind, .ended(outcome))])[1]
            #expect(!last.contains { $0.contains("_time") } && last.contains("down waiting AsyncSemaphore"))
        }
        // A bare `acquire` ends when it has what it waited for.
        let acquired = measured([began, .at(1, .asyncSemaphore, .acquired, .ended(.completed))])
        #expect(acquired[1].contains("1 s wait_time AsyncSemaphore"))
        // A run that was cancelled has one.
        let cancelled = measured([
            .at(0, .fifoQueue, .started, .began(.running)), .at(2, .fifoQueue, .failed, .ended(.cancelled)),
        ])
        #expect(cancelled[1].contains("2 s run_time FIFOQueue"))
    }

    @Test func outcomesAreThoseOfTheEnds() {
        func outcome(_ outcome: TaskEvent.Outcome, _ kind: TaskEvent.Kind, isCancelled: Bool = false) -> String? {
            let end = TaskEvent.at(1, .retry, kind, .ended(outcome), isCancelled: isCancelled)
            return measured([.at(0, .retry, .added, .began(.waiting)), end])[1].last
        }
        for kind in TaskEvent.Kind.examples where kind != .joined && kind != .retrying {
            for end in TaskEvent.Outcome.allCases {
                for isCancelled in [false, true] {
                    #expect(outcome(end, kind, isCancelled: isCancelled) == "+1 ended retry \(end.rawValue)")
                }
            }
        }
    }

    @Test func responsesAreCountedByClassAndWhatIsNotWorkApart() {
        func response(_ status: Int) -> [String] {
            measured([.at(0, .http, .completed, .ended(.completed), subject: 7, status: status)])[0]
        }
        #expect(response(204) == ["+1 http_responses 2xx"] && response(503) == ["+1 http_responses 5xx"])
        #expect(response(999) == ["+1 http_responses other"])
        #expect(measured([.at(0, .http, .refreshing, .began(.running))])[0].contains("up in_flight HTTP.refreshing"))
        #expect(measured([.at(0, .taskBag, .draining, .began(.waiting))])[0].contains("up in_flight TaskBag.draining"))
    }

    @Test func joinersAndMistakesAreCountedWheneverTheyCome() {
        #expect(measured([.at(0, .singleFlight, .joined)]) == [["+1 joined SingleFlight"]])
        let mistakes = measured([
            .at(0, .asyncTask, .dropped, subject: nil, severity: .warning),
            .at(0, .withDetachedTimeout, .abandonedWorkEnded, error: "Oops", severity: .warning),
            .at(0, .withDetachedTimeout, .abandonedWorkEnded, error: "CancellationError()"),
        ])
        #expect(
            mistakes == [
                ["+1 mistakes AsyncTask dropped"], ["+1 mistakes withDetachedTimeout abandonedWorkEnded"], [],
            ]
        )
    }

    @Test func noDimensionIsAKeyANameOrARequest() {
        for hasOwnerNames in [false, true] {
            for primitive in TaskEvent.Primitive.examples {
                for kind in TaskEvent.Kind.examples {
                    for change in TaskEvent.Change.examples {
                        let event = TaskEvent.at(
                            1,
                            primitive,
                            kind,
                            change,
                            ownerName: hasOwnerNames ? "own" : "hush",
                            taskName: "hush",
                            key: "hush",
                            error: "hush",
                            detail: "hush",
                            status: 200
                        )
                        let began = change.isLater ? [TaskEvent.at(0, primitive, .added, .began(.waiting))] : []
                        let texts = measured(began + [event], hasOwnerNames: hasOwnerNames).flatMap { $0 }
                        #expect(!texts.contains { $0.contains("hush") })
                    }
                }
            }
        }
        let named = measured(
            [.at(0, .fifoQueue, .enqueued, .began(.waiting), ownerName: "uploads")],
            hasOwnerNames: true
        )[0]
        #expect(named.allSatisfy { $0.hasSuffix("FIFOQueue uploads") })
    }

    @Test func whateverComesMetersAreWhatIsThere() {
        let steps = Driver().playEverySequence(upTo: 6) { _ in Driver.Step.all }
        #expect(steps > 100)
    }

    /// Two subjects to which anything happens at any time, and what is on the meters.
    private struct Driver: MachineDriver {
        struct Step {
            let subject: UInt64
            let kind: TaskEvent.Kind
            let change: TaskEvent.Change

            static let all: [Step] = [1, 2].flatMap { subject in
                [
                    Step(subject: subject, kind: .enqueued, change: .began(.waiting)),
                    Step(subject: subject, kind: .waiting, change: .entered(.waiting)),
                    Step(subject: subject, kind: .started, change: .entered(.running)),
                    Step(subject: subject, kind: .cancelled, change: .noted),
                    Step(subject: subject, kind: .joined, change: .noted),
                    Step(subject: subject, kind: .completed, change: .ended(.completed)),
                    Step(subject: subject, kind: .skipped, change: .ended(.skipped)),
                ]
            }
        }

        var machine = MetricsStateMachine(hasOwnerNames: false)
        var phases: [UInt64: TaskEvent.Phase] = [:]
        var levels: [String: Int] = [:]

        var signature: Int {
            var hasher = Hasher()
            hasher.combine(phases)
            return hasher.finalize()
        }

        mutating func play(_ step: Step) {
            // One of each, as the stream promises.
            if !step.change.isLater, phases[step.subject] != nil { return }
            read(machine.receive(.at(0, .fifoQueue, step.kind, step.change, subject: step.subject)))
            switch step.change {
            case .began(let phase): phases[step.subject] = phase
            case .entered(let phase): if phases[step.subject] != nil { phases[step.subject] = phase }
            case .noted: break
            case .ended: phases[step.subject] = nil
            }
            #expect(machine.count == phases.count && levels["in_flight FIFOQueue", default: 0] == phases.count)
            #expect(levels["waiting FIFOQueue", default: 0] == phases.values.filter { $0 == .waiting }.count)
            var copy = self
            copy.read(copy.machine.clear())
            #expect(copy.machine.count == 0 && copy.levels.values.allSatisfy { $0 == 0 })
        }

        private mutating func read(_ measurements: [Measurement]) {
            for measurement in measurements {
                switch measurement {
                case .raise(let name): levels[name.text, default: 0] += 1
                case .lower(let name): levels[name.text, default: 0] -= 1
                case .count, .time: break
                }
            }
        }
    }
}

extension TaskEvent.Change {
    fileprivate var isLater: Bool {
        if case .began = self { false } else { true }
    }
}

extension MetricName {
    fileprivate var text: String {
        ([String(label.rawValue.dropFirst("task_control_".count))] + dimensions.map(\.value)).joined(separator: " ")
    }
}

extension Measurement {
    fileprivate var text: String {
        switch self {
        case .count(let name): "+1 \(name.text)"
        case .raise(let name): "up \(name.text)"
        case .lower(let name): "down \(name.text)"
        case .time(let name, let time): "\(time.components.seconds) s \(name.text)"
        }
    }
}
#endif
