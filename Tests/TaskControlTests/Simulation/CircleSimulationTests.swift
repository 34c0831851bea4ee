import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Turns of queues and flights that wait for each other in a circle: an error in every order, and never a hang.
@Suite(.timeLimit(.minutes(15)), .tags(.schedules))
struct CircleSimulationTests {
    enum Shape: CaseIterable {
        case run, concurrentRun, task, drain, detachedTimeout, childTask

        /// Runs code in a turn of the queue.
        func hold(
            _ queue: FIFOQueue,
            _ concurrent: ConcurrentQueue,
            _ body: @escaping @Sendable () async throws -> Void
        ) async throws {
            switch self {
            case .concurrentRun: try await concurrent.run { try await body() }
            case .task: try await queue.addTask { try await body() }.value
            default: try await queue.run { try await body() }
            }
        }

        /// Waits for the turn that `hold` has.
        func wait(for queue: FIFOQueue, _ concurrent: ConcurrentQueue) async throws {
            switch self {
            case .run, .task: try await queue.run {}
            case .concurrentRun: try await concurrent.run {}
            case .drain: try await queue.drain()
            case .detachedTimeout: try await withDetachedTimeout(.seconds(1_000)) { try await queue.run {} }
            case .childTask: try await withTimeout(.seconds(1_000)) { try await queue.run {} }
            }
        }
    }

    @Test func aRefusedDrainLeavesNothingBehind() async throws {
        let (queue, flights, holds) = (FIFOQueue(), SingleFlight<Int, Int>(), Gate())
        let caller = Task {
            try await flights.value(for: 1) {
                try await holds.wait()
                try await wait(forBooksOf: flights._flights.source.number) { 2 - flights._flights.callerCount }
                var refusals = 0
                for _ in 0..<1_000 {
                    do { try await queue.drain() } catch let error as ReentrancyError where error.key == nil {
                        refusals += 1
                    }
                }
                return refusals
            }
        }
        let holder = Task {
            try await queue.run {
                holds.open()
                return try await flights.value(for: 1) { 0 }
            }
        }
        #expect(try await caller.value == 1_000)
        #expect(try await holder.value == 1_000)
        #expect(queue._turns.state.withMachine { $0.drainerCapacity } < 100)
    }

    @Test(arguments: Shape.allCases)
    func aFlightAndATurnThatWaitForEachOtherFail(_ shape: Shape) async throws {
        try simulate(seeds: Schedules.seeds(400, inDebug: 60)) { sim in
            let (queue, concurrent) = (FIFOQueue(), ConcurrentQueue(maxConcurrentTasks: 1))
            let (flights, flies, holds) = (SingleFlight<Int, Void>(), Gate(), Gate())
            let caller = Task {
                try await flights.value(for: 1) {
                    flies.open()
                    try await holds.wait()
                    try await shape.wait(for: queue, concurrent)
                }
            }
            let holder = Task {
                try await shape.hold(queue, concurrent) {
                    holds.open()
                    try await flies.wait()
                    try await flights.value(for: 1) {}
                }
            }
            var failures = 0
            for case .failure(let error) in await [caller.result, holder.result] {
                sim.expect(error is any ProgrammingMistake, "not \(error)")
                failures += 1
            }
            sim.expect(failures > 0 && sim.now < .seconds(1))
            sim.expect(queue.isIdle && concurrent.isIdle)
        }
    }

    /// A circle of turns: each task has the turn that another one waits for.
    @Test(arguments: [2, 3])
    func turnsThatWaitForEachOtherFail(count: Int) async throws {
        try simulate(seeds: Schedules.seeds(400, inDebug: 60)) { sim in
            let (queues, gates) = ((0..<count).map { _ in FIFOQueue() }, (0..<count).map { _ in Gate() })
            let tasks = (0..<count).map { number in
                Task {
                    try await queues[number].run {
                        gates[number].open()
                        for gate in gates { try await gate.wait() }
                        try await queues[(number + 1) % count].run {}
                    }
                }
            }
            var failures = 0
            for task in tasks {
                guard case .failure(let error) = await task.result else { continue }
                sim.expect(error as? ReentrancyError == ReentrancyError(queueName: nil))
                failures += 1
            }
            sim.expect(failures == 1, "the one that would complete the circle")
        }
    }

    /// The caller of a flight may be inside one of several turns, and the flight take another one.
    @Test func aFlightTakesAFreeTurnOfAQueueThatItsCallerIsInside() async throws {
        try simulate(seeds: Schedules.seeds(400, inDebug: 60)) { sim in
            let (queue, flights) = (ConcurrentQueue(maxConcurrentTasks: 2), SingleFlight<Int, Int>())
            let joins = Gate()
            let caller = Task {
                try await flights.value(for: 1) {
                    try await joins.wait()
                    return try await queue.run { 7 }
                }
            }
            let inside = Task {
                try await queue.run {
                    joins.open()
                    return try await flights.value(for: 1) { 7 }
                }
            }
            sim.expect(try await caller.value == 7)
            sim.expect(try await inside.value == 7)
        }
    }

    @Test func aFlightWhoseCallersHaveAllTurnsOfAQueueFailsIfItTakesOne() async throws {
        try simulate(seeds: Schedules.seeds(400, inDebug: 60)) { sim in
            let (queue, flights) = (ConcurrentQueue(maxConcurrentTasks: 2), SingleFlight<Int, Int>())
            let holds = [Gate(), Gate()]
            let callers = holds.map { gate in
                Task {
                    try await queue.run {
                        gate.open()
                        return try await flights.value(for: 1) {
                            for gate in holds { try await gate.wait() }
                            return try await queue.run { 7 }
                        }
                    }
                }
            }
            var failures = 0
            for case .failure(let error) in await [callers[0].result, callers[1].result] {
                sim.expect(error is any ProgrammingMistake)
                failures += 1
            }
            sim.expect(failures > 0)
        }
    }

    /// A drain waits only for the turns that were in the queue before it.
    @Test func aTurnThatComesAfterADrainMayWaitForIt() async throws {
        try simulate(seeds: Schedules.seeds(400, inDebug: 60)) { sim in
            let (queue, flights) = (ConcurrentQueue(maxConcurrentTasks: 2), SingleFlight<Int, Void>())
            let (isOver, drains) = (Gate(), Gate())
            let first = queue.addTask { try await isOver.wait() }
            let caller = Task {
                try await flights.value(for: 1) {
                    drains.open()
                    try await queue.drain()
                }
            }
            let later = Task {
                try await drains.wait()
                try await Task.sleep(for: .seconds(1))  // simulated time
                try await queue.run { try await flights.value(for: 1) {} }
            }
            try await Task.sleep(for: .seconds(2))  // simulated time
            isOver.open()
            try await caller.value
            try await later.value
            try await first.value
        }
    }

    /// A caller that leaves waits for nothing.
    @Test func aTurnMayBeTakenByAFlightWhoseCallerInsideTheQueueHasLeft() async throws {
        try simulate(seeds: Schedules.seeds(400, inDebug: 60)) { sim in
            let (queue, flights, joined) = (FIFOQueue(), SingleFlight<Int, Int>(), Gate())
            let caller = Task {
                try await flights.value(for: 1) {
                    try await joined.wait()
                    return try await queue.run { 7 }
                }
            }
            let leaver = Task {
                try await queue.run {
                    let call = Task { try await flights.value(for: 1) { 7 } }
                    try await Task.sleep(for: .seconds(1))  // simulated time
                    call.cancel()
                    joined.open()
                    _ = await call.result
                }
            }
            try await leaver.value
            sim.expect(try await caller.value == 7)
        }
    }

    // MARK: Random programs

    /// One step of a program: a turn of a queue or a flight, and the steps inside it.
    private indirect enum Step: Sendable {
        case pause
        case turn(Int, isTask: Bool, [Step])
        case flight(Int, [Step])
        case drain(Int)

        /// - Parameter lowest: The lowest rank that the step may have; `nil` if any step may have any rank.
        static func random(_ depth: Int, _ lowest: Int?, _ random: inout SeededGenerator) -> Step {
            let rank = Int.random(in: (lowest ?? 0)...6, using: &random)
            if depth == 0 || rank == 6 { return .pause }
            let inner = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                Step.random(depth - 1, lowest.map { _ in rank + 1 }, &random)
            }
            if rank % 2 == 1 { return .flight(rank / 2, inner) }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: return .drain(rank / 2)
            case let kind: return .turn(rank / 2, isTask: kind == 1, inner)
            }
        }
    }

    private struct World: Sendable {
        let queues = [1, 2, 1].map { ConcurrentQueue(maxConcurrentTasks: $0) }
        let flights = SingleFlight<Int, Void>()

        func perform(_ steps: [Step], isInPlace: Bool = false) async throws {
            for step in steps {
                switch step {
                case .pause: await Task.yield()
                // No queue can see that code in a place awaits the value of a task.
                case .turn(let queue, true, let inner) where !isInPlace:
                    try await queues[queue].addTask { try await perform(inner, isInPlace: true) }.value
                case .turn(let queue, _, let inner):
                    try await queues[queue].run { try await perform(inner, isInPlace: true) }
                case .flight(let key, let inner):
                    try await flights.value(for: key) { try await perform(inner, isInPlace: true) }
                case .drain(let queue): try await queues[queue].drain()
                }
            }
        }
    }

    /// - Parameter isOrdered: Whether the programs take turns and flights in the same order everywhere.
    private func play(isOrdered: Bool) throws {
        try simulate(seeds: Schedules.seeds(3_000, inDebug: 250)) { sim in
            var source = sim.random
            var random = SeededGenerator(seed: source.next())
            let world = World()
            let programs = (0..<4).map { _ in
                (0..<2).map { _ in Step.random(4, isOrdered ? 0 : nil, &random) }
            }
            let tasks = programs.map { program in Task { try await world.perform(program) } }
            if Bool.random(using: &random) { sim.cancelAtAnyPoint(tasks[0]) }
            for task in tasks {
                guard case .failure(let error) = await task.result else { continue }
                let isExpected = error is CancellationError || !isOrdered && error is any ProgrammingMistake
                sim.expect(isExpected, "\(error)")
            }
        }
    }

    @Test func noProgramOfTurnsAndFlightsHangs() throws { try play(isOrdered: false) }

    @Test func programsWithOneOrderNeverFail() throws { try play(isOrdered: true) }
}
