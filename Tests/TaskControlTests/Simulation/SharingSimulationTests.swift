import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// Random programs against sequential models: flights, permits, and time limits.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct SharingSimulationTests {
    /// 100 programs under 1,000 schedules each.
    private func check<Program: Sendable>(
        _ makeProgram: @escaping @Sendable (inout SeededGenerator) -> Program,
        _ run: @escaping @Sendable (Simulation, Program) async throws -> Void
    ) async throws {
        try await offThePool {
            for number in 0..<100 as Range<UInt64> {
                var random = SeededGenerator(seed: number)
                let program = makeProgram(&random)
                try simulate(seeds: Schedules.seeds(1_000, inDebug: 3)) { sim in
                    sim.note("program \(number): \(program)")
                    try await run(sim, program)
                }
            }
        }
    }

    /// Three tasks that do three operations each.
    private func tasks<Operation: Sendable>(
        _ random: inout SeededGenerator,
        _ make: (inout SeededGenerator) -> Operation
    ) -> [[Operation]] {
        (0..<3).map { _ in (0..<3).map { _ in make(&random) } }
    }

    /// Does the operations of each task one after the other, and awaits what they have begun.
    ///
    /// - Parameter perform: Returns what must be awaited at the end.
    private func play<Operation: Sendable>(
        _ program: [[Operation]],
        _ perform: @escaping @Sendable (Operation) async -> (@Sendable () async -> Void)?
    ) async {
        await withTaskGroup { group in
            for operations in program {
                group.addTask {
                    var ends: [@Sendable () async -> Void] = []
                    for operation in operations {
                        if let end = await perform(operation) { ends.append(end) }
                        await Task.yield()
                    }
                    for end in ends { await end() }
                }
            }
        }
    }

    // MARK: Flights

    private enum FlightOperation: Sendable {
        case ask(Int, FlightWorld.Work, isCancelled: Bool)
        case forget(Int)
        case cancelAll, sleep

        init(_ random: inout SeededGenerator) {
            let key = Int.random(in: 0..<2, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: self = .forget(key)
            case 1: self = .cancelAll
            case 2: self = .sleep
            default:
                let work = FlightWorld.Work.allCases.randomElement(using: &random)!
                self = .ask(key, work, isCancelled: Bool.random(using: &random))
            }
        }
    }

    @Test(arguments: [false, true])
    func flightsAgreeWithTheModel(runsToCompletion: Bool) async throws {
        try await check({ self.tasks(&$0) { FlightOperation(&$0) } }) { sim, program in
            let world = FlightWorld(sim, runsToCompletion: runsToCompletion)
            await play(program) { operation in
                switch operation {
                case .ask(let key, let work, let isCancelled): return world.ask(key, work, isCancelled: isCancelled)
                case .forget(let key): world.forget(key)
                case .cancelAll: world.cancelAll()
                case .sleep: try? await Task.sleep(for: .milliseconds(1))
                }
                return nil
            }
            // Work that all callers have left may still be running.
            try await Task.sleep(for: .seconds(1))
            world.expectAllIsOver()
        }
    }

    // MARK: Permits

    private enum PermitOperation: Sendable {
        case work(Int, inParts: Bool, isCancelled: Bool)
        case tryWork(Int)
        case sleep

        init(_ random: inout SeededGenerator) {
            let weight = Int.random(in: 1...3, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: self = .sleep
            case 1: self = .tryWork(weight)
            default:
                self = .work(weight, inParts: Bool.random(using: &random), isCancelled: Bool.random(using: &random))
            }
        }
    }

    @Test(arguments: [3, 4])
    func permitsAgreeWithTheModel(size: Int) async throws {
        try await check({ self.tasks(&$0) { PermitOperation(&$0) } }) { sim, program in
            let world = PermitWorld(sim, size: size)
            await play(program) { operation in
                switch operation {
                case .work(let weight, let inParts, let isCancelled):
                    return world.work(weight, inParts: inParts, isCancelled: isCancelled)
                case .tryWork(let weight): await world.tryWork(weight)
                case .sleep: try? await Task.sleep(for: .milliseconds(1))
                }
                return nil
            }
            world.expectAllIsOver()
        }
    }

    // MARK: Time limits

    /// Whatever the schedule, it ends as the arithmetic says, and when.
    @Test func timeLimitsAgreeWithTheModel() async throws {
        try await check({
            (
                program: TimeLimitProgram(&$0, depth: 3),
                cancellation: Duration.nanoseconds(Int.random(in: 1...2_000_000_000, using: &$0))
            )
        }) { sim, plan in
            let start = ContinuousClock.now
            let task = Task { try await plan.program.run() }
            let canceller = Task {
                try await Task.sleep(for: plan.cancellation)
                task.cancel()
            }
            let outcome = TimeLimitProgram.Outcome(await task.result)
            let time = ContinuousClock.now - start
            canceller.cancel()
            let expected = plan.program.outcome(from: .zero, cancellation: plan.cancellation)
            sim.expect(outcome == expected.1, "it ends with \(outcome), not with \(expected.1)")
            // Each read of the clock takes a nanosecond.
            let times = expected.end...expected.end + .microseconds(1)
            sim.expect(times.contains(time), "it ends after \(time), not after \(expected.end)")
        }
    }
}
