import Testing

@testable import TaskControlTesting

@Suite(.timeLimit(.minutes(5)))
struct ScheduleStateMachineTests {
    private typealias Machine = ScheduleStateMachine<Int>

    private enum Event: Equatable {
        case enqueue
        case sleep(Int64)
        case next
    }

    private static let strategies: [SimulationStrategy] = [.random, .pct(depth: 1), .pct(depth: 3)]

    /// All sequences of seven events, against a list of jobs with the times from which they may run: what comes out is one of
    /// those that may, nothing is lost or comes twice, and time moves only when it must, and to the earliest.
    @Test(arguments: strategies)
    func everyShortSequenceAgreesWithTheModel(strategy: SimulationStrategy) {
        func search(_ machine: Machine, _ model: [(job: Int, from: Int64)], _ made: Int, depth: Int) {
            #expect(machine.isIdle == model.isEmpty)
            guard depth > 0 else { return }
            for event in [.enqueue, .sleep(1), .sleep(2), .next] as [Event] {
                var (machine, model) = (machine, model)
                switch event {
                case .enqueue:
                    machine.enqueue(made, of: made % 3 == 0 ? nil : made)
                    model.append((made, 0))
                case .sleep(let time):
                    machine.enqueue(made, of: made, at: machine.now + time)
                    model.append((made, machine.now + time))
                case .next:
                    let before = machine.now
                    let item = machine.next()
                    guard let earliest = model.map(\.from).min() else {
                        #expect(item == nil && machine.now == before)
                        break
                    }
                    #expect(machine.now == max(before, earliest))
                    let index = model.firstIndex { $0.job == item?.job }
                    #expect(index != nil && model[index!].from <= machine.now)
                    model.remove(at: index!)
                }
                search(machine, model, event == .next ? made : made + 1, depth: depth - 1)
            }
        }
        search(Machine(seed: 7, strategy: strategy, now: 0), [], 0, depth: 7)
    }

    /// What may run is chosen with the same chance, within the accuracy of so many throws.
    @Test func atRandomAllHaveTheSameChance() {
        var counts = [0, 0, 0, 0]
        for seed in 0..<8_000 as Range<UInt64> {
            var machine = Machine(seed: seed, strategy: .random, now: 0)
            for job in 0..<4 { machine.enqueue(job, of: job) }
            counts[machine.next()!.job] += 1
        }
        // Five standard deviations of a binomial: √(8,000 · ¼ · ¾) is 39.
        #expect(counts.allSatisfy { abs($0 - 2_000) < 195 })
    }

    /// A task of the highest rank goes on for as long as it can, but for the moments at which it falls.
    @Test func underPCTOneTaskGoesOnUntilItFalls() {
        for seed in 0..<100 as Range<UInt64> {
            var machine = Machine(seed: seed, strategy: .pct(depth: 1), now: 0)
            for task in 0..<5 { machine.enqueue(0, of: task) }
            var order: [Int] = []
            for step in 0..<50 {
                let task = machine.next()!.task!
                order.append(task)
                if step % 10 != 9 { machine.enqueue(0, of: task) }
            }
            let changes = zip(order, order.dropFirst()).count { $0 != $1 }
            #expect(changes == 4, "without change points each goes on to its end: \(order)")
        }
    }

    @Test func underPCTWhatSpinsFalls() {
        var machine = Machine(seed: 3, strategy: .pct(depth: 1), now: 0)
        for task in 0..<2 { machine.enqueue(0, of: task) }
        var seen = Set<Int>()
        for _ in 0..<250 {
            let task = machine.next()!.task!
            seen.insert(task)
            machine.enqueue(0, of: task)
        }
        #expect(seen == [0, 1])
    }

    @Test func theTraceTellsWhatWasChosenAndNoted() {
        func trace(_ change: (inout Machine) -> Void) -> UInt64 {
            var machine = Machine(seed: 1, strategy: .random, now: 0)
            change(&machine)
            while machine.next() != nil {}
            return machine.trace
        }
        let traces = [
            trace { _ in },
            trace { $0.enqueue(1, of: 1) },
            trace { $0.enqueue(1, of: 1, at: 1) },
            trace { $0.enqueue(1, of: 1, at: 2) },
            trace { $0.note("a") },
            trace { $0.note("b") },
        ]
        #expect(Set(traces).count == traces.count)
        #expect(trace { $0.enqueue(1, of: 1) } == trace { $0.enqueue(1, of: 1) })
    }
}
