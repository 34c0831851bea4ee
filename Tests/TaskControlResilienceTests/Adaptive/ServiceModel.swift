import TaskControlTesting
import TestSupport

@testable import TaskControlResilience

/// A limit, a service with a queue, and more callers than it can serve: without tasks, so that many seeds of many services take little time.
struct ServiceModel {
    enum Distribution: CaseIterable {
        /// From 0.8 to 1.2 of the mean.
        case even
        /// Every tenth call takes nine times as long.
        case slowTail
        /// Without a memory, as of a service that itself has many parts.
        case exponential
    }

    /// The number of calls that the service works on at the same time, by the second.
    var knee: @Sendable (Double) -> Int
    /// How long the service works on a call.
    var duration: @Sendable (Double) -> Double = { _ in 0.05 }
    var distribution = Distribution.even
    /// How many calls begin for each one that the service can end.
    var load = 1.5
    var seconds = 150
    /// When calls hang until their time limit.
    var hangs: @Sendable (Double) -> Bool = { _ in false }
    var timeLimit = 0.5

    struct Outcome {
        /// By the second.
        var limits: [Int] = []
        var answers: [Int] = []
    }

    private enum Event {
        case arrival
        case end(begun: Double, running: Int, isDrop: Bool)
    }

    private struct Schedule {
        private var events: [(time: Double, event: Event)] = []

        mutating func add(_ event: Event, at time: Double) {
            events.append((time, event))
            var index = events.count - 1
            while index > 0, events[(index - 1) / 2].time > events[index].time {
                events.swapAt(index, (index - 1) / 2)
                index = (index - 1) / 2
            }
        }

        mutating func next() -> (time: Double, event: Event) {
            events.swapAt(0, events.count - 1)
            let first = events.removeLast()
            var index = 0
            while true {
                let children = [2 * index + 1, 2 * index + 2].filter { $0 < events.count }
                guard let child = children.min(by: { events[$0].time < events[$1].time }),
                    events[child].time < events[index].time
                else { return first }
                events.swapAt(index, child)
                index = child
            }
        }
    }

    func run(seed: UInt64, maximum: Int = 200) -> Outcome {
        var random = SeededGenerator(seed: seed)
        var machine = AdaptiveLimitStateMachine(.init(maximum: maximum))
        var (schedule, outcome) = (Schedule(), Outcome())
        /// The callers that wait to be admitted, and the calls in the queue of the service.
        var (line, running, queue, head, working, answers) = (0, 0, [(begun: Double, running: Int)](), 0, 0, 0)
        schedule.add(.arrival, at: 0)
        while outcome.limits.count < seconds {
            let (time, event) = schedule.next()
            while outcome.limits.count < min(Int(time), seconds) {
                outcome.limits.append(machine.limit)
                outcome.answers.append(answers)
                answers = 0
            }
            switch event {
            case .arrival:
                if line < 2 * machine.limit { line += 1 }
                let capacity = Double(knee(time)) / duration(time) / (distribution == .slowTail ? 1.8 : 1)
                schedule.add(.arrival, at: time + exponential(&random) / (capacity * load))
            case .end(let begun, let number, let isDrop):
                (running, working) = (running - 1, working - 1)
                answers += isDrop ? 0 : 1
                if isDrop {
                    machine.drop(.seconds(time - begun), running: number, at: .seconds(time))
                } else {
                    machine.record(.seconds(time - begun), running: number, at: .seconds(time))
                }
                machine.checkInvariants()
            }
            while line > 0, running < machine.limit {
                (line, running) = (line - 1, running + 1)
                queue.append((time, running))
            }
            while working < knee(time), head < queue.count {
                working += 1
                let call = queue[head]
                head += 1
                let isDrop = hangs(time)
                let length = isDrop ? max(0, timeLimit - (time - call.begun)) : draw(time, &random)
                schedule.add(.end(begun: call.begun, running: call.running, isDrop: isDrop), at: time + length)
            }
        }
        return outcome
    }

    private func draw(_ time: Double, _ random: inout SeededGenerator) -> Double {
        switch distribution {
        case .even: duration(time) * .random(in: 0.8..<1.2, using: &random)
        case .slowTail:
            duration(time) * (Int.random(in: 0..<10, using: &random) == 0 ? 9 : .random(in: 0.8..<1.2, using: &random))
        case .exponential: duration(time) * exponential(&random)
        }
    }

    /// A number with an exponential distribution and a mean of 1 (von Neumann's comparison method, which needs no logarithm).
    private func exponential(_ random: inout SeededGenerator) -> Double {
        var whole = 0.0
        while true {
            let first = Double.random(in: 0..<1, using: &random)
            var (last, count) = (first, 1)
            while true {
                let next = Double.random(in: 0..<1, using: &random)
                guard next < last else { break }
                (last, count) = (next, count + 1)
            }
            if count % 2 == 1 { return whole + first }
            whole += 1
        }
    }
}
