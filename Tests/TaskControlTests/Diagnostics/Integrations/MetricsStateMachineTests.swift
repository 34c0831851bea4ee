#if Metrics
import TestSupport
import Testing

@testable import TaskControl

/// What measurements are made of which events.
@Suite(.timeLimit(.minutes(5)))
struct MetricsStateMachineTests {
    private func measured(_ events: [TaskEvent], hasOwnerNames: Bool = false) -> [[String]] {
        var machine = MetricsStateMachine(hasOwnerNames: hasOwnerNames)
        return events.map { machine.receive($0).map(\.text) }
    }

    @Test func aTaskOfAQueueIsMeasuredFromItsPlaceToItsEnd() {
        let measurements = measured([
            .at(1, .fifoQueue, .enqueued, .begins), .at(2, .fifoQueue, .waiting), .at(4, .fifoQueue, .started),
            .at(9, .fifoQueue, .completed, .ends),
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
            .at(0, .retry, .failed, .begins), .at(1, .retry, .waiting), .at(3, .retry, .running),
            .at(7, .retry, .failed), .at(8, .retry, .gaveUp, .ends),
        ])
        #expect(
            measurements == [
                ["+1 started retry", "up in_flight retry"], ["1 s run_time retry", "up waiting retry"],
                ["+1 retries", "down waiting retry", "2 s wait_time retry"], [],
                ["5 s run_time retry", "down in_flight retry", "+1 ended retry gaveUp"],
            ]
        )
    }

    @Test func whatComesAfterTheEndOrWithoutABeginningMovesNothing() {
        for primitive in TaskEvent.Primitive.allCases {
            for kind in TaskEvent.Kind.allCases where kind != .joined {
                let event = TaskEvent.at(5, primitive, kind)
                if kind == .running { continue }
                #expect(measured([event]) == [[]])
                let afterwards = measured([
                    .at(0, primitive, .added, .begins), .at(1, primitive, .completed, .ends), event,
                    .at(6, primitive, kind, .ends),
                ])
                #expect(afterwards[2...] == [[], []])
            }
        }
    }

    @Test func aWaitThatWasGivenUpHasNoTime() {
        for kind in [TaskEvent.Kind.skipped, .left] {
            let last = measured([.at(0, .asyncSemaphore, .waiting, .begins), .at(1, .asyncSemaphore, kind, .ends)])[1]
            #expect(!last.contains { $0.contains("_time") } && last.contains("down waiting AsyncSemaphore"))
        }
        // A bare `acquire` ends when it has what it waited for.
        let acquired = measured([.at(0, .asyncSemaphore, .waiting, .begins), .at(1, .asyncSemaphore, .acquired, .ends)])
        #expect(acquired[1].contains("1 s wait_time AsyncSemaphore"))
    }

    @Test func outcomesAreTheKindsOfEndsAndCancelled() {
        func outcome(_ primitive: TaskEvent.Primitive, _ kind: TaskEvent.Kind, isCancelled: Bool = false) -> String? {
            let end = TaskEvent.at(1, primitive, kind, .ends, isCancelled: isCancelled)
            return measured([.at(0, primitive, .added, .begins), end])[1].last
        }
        #expect(outcome(.taskBag, .completed, isCancelled: true) == "+1 ended TaskBag completed")
        #expect(outcome(.taskBag, .skipped, isCancelled: true) == "+1 ended TaskBag skipped")
        #expect(outcome(.fifoQueue, .failed) == "+1 ended FIFOQueue failed")
        #expect(outcome(.fifoQueue, .failed, isCancelled: true) == "+1 ended FIFOQueue cancelled")
        #expect(outcome(.retry, .gaveUp, isCancelled: true) == "+1 ended retry cancelled")
        #expect(outcome(.withTimeout, .timedOut) == "+1 ended withTimeout timedOut")
        #expect(outcome(.withCancellableContinuation, .left) == "+1 ended withCancellableContinuation cancelled")
    }

    @Test func responsesAreCountedByClassAndWhatIsNotWorkApart() {
        func response(_ status: Int) -> [String] {
            measured([.at(0, .http, .completed, .ends, subject: 7, status: status)])[0]
        }
        #expect(response(204) == ["+1 http_responses 2xx"] && response(503) == ["+1 http_responses 5xx"])
        #expect(response(999) == ["+1 http_responses other"])
        #expect(measured([.at(0, .http, .refreshing, .begins)])[0].contains("up in_flight HTTP.refreshing"))
        #expect(measured([.at(0, .taskBag, .draining, .begins)])[0].contains("up in_flight TaskBag.draining"))
    }

    @Test func joinersAndMistakesAreCountedWheneverTheyCome() {
        #expect(measured([.at(0, .singleFlight, .joined)]) == [["+1 joined SingleFlight"]])
        let mistakes = measured([
            .at(0, .asyncTask, .dropped, subject: nil, isMistake: true),
            .at(0, .withDetachedTimeout, .abandonedWorkEnded, error: "Oops", isMistake: true),
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
            for primitive in TaskEvent.Primitive.allCases {
                for kind in TaskEvent.Kind.allCases {
                    for stage in [TaskEvent.Stage.begins, .goesOn, .ends] {
                        let events = [
                            stage == .begins ? [] : [TaskEvent.at(0, primitive, .added, .begins)],
                            [
                                .at(
                                    1,
                                    primitive,
                                    kind,
                                    stage,
                                    ownerName: hasOwnerNames ? "own" : "hush",
                                    taskName: "hush",
                                    key: "hush",
                                    error: "hush",
                                    detail: "hush",
                                    status: 200
                                )
                            ],
                        ].flatMap { $0 }
                        let texts = measured(events, hasOwnerNames: hasOwnerNames).flatMap { $0 }
                        #expect(!texts.contains { $0.contains("hush") })
                    }
                }
            }
        }
        let named = measured([.at(0, .fifoQueue, .enqueued, .begins, ownerName: "uploads")], hasOwnerNames: true)[0]
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
            let stage: TaskEvent.Stage

            static let all: [Step] = [1, 2].flatMap { subject in
                [
                    Step(subject: subject, kind: .enqueued, stage: .begins),
                    Step(subject: subject, kind: .waiting, stage: .goesOn),
                    Step(subject: subject, kind: .started, stage: .goesOn),
                    Step(subject: subject, kind: .cancelled, stage: .goesOn),
                    Step(subject: subject, kind: .joined, stage: .goesOn),
                    Step(subject: subject, kind: .completed, stage: .ends),
                    Step(subject: subject, kind: .skipped, stage: .ends),
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
            if step.stage == .begins, phases[step.subject] != nil { return }
            let event = TaskEvent.at(0, .fifoQueue, step.kind, step.stage, subject: step.subject)
            read(machine.receive(event))
            switch step.stage {
            case .begins: phases[step.subject] = .waiting
            case .goesOn: if phases[step.subject] != nil, let phase = event.phase { phases[step.subject] = phase }
            case .ends: phases[step.subject] = nil
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
