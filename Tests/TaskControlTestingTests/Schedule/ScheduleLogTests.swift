import TestSupport
import Testing

@testable import TaskControlTesting

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct ScheduleLogTests {
    private actor Place {}
    private actor Other {}

    private static func log(capacity: Int = 100_000) -> ScheduleLog {
        let log = ScheduleLog(capacity: capacity)
        log.tasks.append(.body, creator: nil)
        for _ in 0..<299 { log.tasks.append(.asyncLet, creator: 0) }
        log.tasks.set(299, name: "last", creator: 1)
        for type in [Place.self, Other.self, Place.self] as [any Actor.Type] { log.add(TypeID(type)) }
        return log
    }

    /// Every event, with and without a task and an actor, at numbers and times that follow each other, jump, or go back.
    @Test func everyStepIsReadAsItWasRecorded() {
        let log = Self.log()
        let place = TypeID(Place.self)
        let (note, blocked) = (log.text("note", location: "file:1"), log.text("blocked"))
        let (body, last) = (log.tasks[0], log.tasks[299])
        #expect("\(body), \(last)" == "#0 body, #299 last" && last.creator == 1)
        let events: [(ScheduleLog.Event, SimulationStep.Event)] = [
            (.ran(.ready), .ran(.ready)),
            (.ran(.yielded), .ran(.yielded)),
            (.ran(.awaitingContinuation), .ran(.awaitingContinuation)),
            (.ran(.awaitingChildTasks), .ran(.awaitingChildTasks)),
            (.ran(.ended), .ran(.ended)),
            (.ran(.unknown), .ran(.unknown)),
            (.ran(.sleeping(until: .max)), .ran(.sleeping(until: .nanoseconds(Int64.max)))),
            (.ran(.awaitingTask(nil)), .ran(.awaitingTask(nil))),
            (.ran(.awaitingTask(0)), .ran(.awaitingTask(body))),
            (.ran(.awaitingTask(299)), .ran(.awaitingTask(last))),
            (.ran(.awaitingActor(0)), .ran(.awaitingActor("Place 1"))),
            (.ran(.awaitingActor(1)), .ran(.awaitingActor("Other"))),
            (.ran(.outside(executor: place)), .ran(.outside(executor: "Place"))),
            (.actorTurn, .actorTurn),
            (.action, .action),
            (.note(note), .note("note")),
            (.blocked(blocked), .blocked("blocked")),
        ]
        var expected: [SimulationStep] = []
        for (event, read) in events {
            for task in [nil, 0, 299] {
                for actor in [nil, 1, 2] {
                    for (number, time) in [(0, 0), (1, 0), (2, 5), (2, 5), (9, 5), (8, 1 << 60)] as [(Int, Int64)] {
                        log.append(event, of: task, on: actor, number: number, at: time)
                        let isNote = if case .note = event { true } else { false }
                        expected.append(
                            SimulationStep(
                                number: number,
                                time: .nanoseconds(time),
                                task: task.map { log.tasks[$0] },
                                actor: actor.map { $0 == 1 ? "Other" : "Place 2" },
                                event: read,
                                location: isNote ? "file:1" : nil
                            )
                        )
                    }
                }
            }
        }
        #expect(log.steps == expected)
    }

    @Test func theLastStepsAreKept() {
        let log = Self.log(capacity: 10)
        for number in 0..<35 {
            log.append(.ran(.ready), of: 1, on: nil, number: number, at: 7)
            let kept = log.steps.map(\.number)
            #expect(kept == Array(number + 1 - kept.count...number))
            #expect(kept.count >= min(number + 1, 10) && kept.count <= 20)
            #expect(log.steps.allSatisfy { $0.time == .nanoseconds(7) })
        }
    }
}
