internal import TaskControl

/// What a simulation of one seed came to.
public struct SimulationRun: Hashable, Sendable {
    /// The seed.
    public let seed: UInt64
    /// A fingerprint of the schedule: equal ones, equal schedules.
    public let trace: UInt64
    /// How many jobs ran: a task runs in one to its first suspension, and in one after each.
    public let steps: Int
    /// How much virtual time passed.
    public let elapsed: Duration
}

/// Runs a body once for every seed, each time in another order of all that it does, and with virtual time.
///
/// ```swift
/// @Test func theLastOneOutTurnsOffTheLight() throws {
///     try simulate(seeds: 0..<1_000) { sim in
///         let room = Room()
///         async let one: Void = room.visit()
///         async let two: Void = room.visit()
///         _ = await (one, two)
///         sim.expect(await room.isDark, "it is dark when all have left")
///     }
/// }
/// ```
///
/// Inside the body one thread runs everything: tasks however they are made, actors, the main actor, sleeps. Where
/// several could go on, the seed decides which does. Time stands still while anything can run, and then jumps to the
/// next deadline: `Task.sleep`, `ContinuousClock`, `SuspendingClock` and all that is built on them cost no time. The
/// same seed gives the same schedule, always.
///
/// A seed ends when the body has returned and every task that it started has ended. It fails if the body throws, if
/// ``Simulation/expect(_:_:fileID:line:)`` is told something that is not so, if nothing can run before the end
/// (deadlock), if there is no end within `maxSteps` (livelock), or if another thread interferes (escape). The first
/// seed that fails ends the call, with its schedule and the line that replays it. An error of Swift Testing's
/// `#require`, which has been recorded already, is thrown on as it is, and the rest printed to standard error.
///
/// ## Limits
/// What the simulation does not see it can't order. Threads of others (URLSession, Dispatch): a task that one of them resumes is an escape;
/// one that takes longer than a tenth of a second while nothing else can run is taken for a deadlock. Executors of others: a
/// task that goes to one is an escape. Calls that block the thread: they hang the simulation, as they would hang a
/// thread of the pool. What runs between two suspension points is one step: a data race is ThreadSanitizer's to find.
///
/// The jobs of one actor run in the order of their priority and arrival, as the runtime has it; the seed decides the order of arrival.
/// Simulations take turns on the main actor, but an ordinary test on the main actor runs beside them, on another thread: tests that share
/// state of the process, or a global actor, are to be serialized. The system's random generator stays random (``Simulation/random`` is the
/// seed's), and the order of a `Set` or `Dictionary` differs from process to process; whether either decides anything,
/// `checksDeterminism` tells. An `#expect` in the body is recorded without the seed, and the seeds go on: use
/// ``Simulation/expect(_:_:fileID:line:)``.
///
/// The call blocks its thread. What a seed that failed has left behind never runs again.
///
/// - Parameters:
///   - seeds: One schedule each.
///   - strategy: How the next is picked.
///   - maxSteps: A seed that takes more is taken for one that never ends.
///   - checksDeterminism: Runs each seed twice and compares.
///   - fileID: The line that replays a failure names it.
///   - line: The line that replays a failure names it.
///   - body: Inherits the task-locals of the caller.
/// - Throws: ``SimulationFailure`` for the first seed that fails; ``SimulationUnsupportedError`` where there is no simulation.
public func simulate(
    seeds: Range<UInt64> = 0..<1_000,
    strategy: SimulationStrategy = .random,
    maxSteps: Int = 100_000,
    checksDeterminism: Bool = false,
    fileID: String = #fileID,
    line: Int = #line,
    _ body: @escaping @isolated(any) @Sendable (Simulation) async throws -> Void
) throws {
    for seed in seeds {
        try simulate(
            seed: seed,
            strategy: strategy,
            maxSteps: maxSteps,
            checksDeterminism: checksDeterminism,
            fileID: fileID,
            line: line,
            body
        )
    }
}

/// Runs a body under one seed: the line that replays a failure. See
/// ``simulate(seeds:strategy:maxSteps:checksDeterminism:fileID:line:_:)``.
///
/// - Throws: ``SimulationFailure`` if the seed fails; ``SimulationUnsupportedError`` where there is no simulation.
@discardableResult
public func simulate(
    seed: UInt64,
    strategy: SimulationStrategy = .random,
    maxSteps: Int = 100_000,
    checksDeterminism: Bool = false,
    fileID: String = #fileID,
    line: Int = #line,
    _ body: @escaping @isolated(any) @Sendable (Simulation) async throws -> Void
) throws -> SimulationRun {
    insist(maxSteps > 0, "maxSteps bounds what one seed may take: at least 1, not \(maxSteps).")
    guard Simulation.isSupported else { throw SimulationUnsupportedError() }
    let plan = SimulationPlan(seed: seed, strategy: strategy, maxSteps: maxSteps, fileID: fileID, line: line)
    let run = try SimulationSupport.run(plan, body)
    if checksDeterminism {
        let again = try SimulationSupport.run(plan, body)
        if again != run { throw plan.failure(.nondeterministic, run, schedule: "one run: \(run)\nthe other: \(again)") }
    }
    return run
}

/// What is to be simulated, but for the body.
struct SimulationPlan {
    typealias Body = @isolated(any) @Sendable (Simulation) async throws -> Void

    let seed: UInt64
    let strategy: SimulationStrategy
    let maxSteps: Int
    let fileID: String
    let line: Int

    /// How long, in real time, a simulation that has nothing to do looks out for threads that may be about to resume a task.
    var grace = Duration.milliseconds(100)

    func failure(
        _ reason: SimulationFailure.Reason,
        _ run: SimulationRun,
        schedule: String
    ) -> SimulationFailure {
        SimulationFailure(
            reason: reason,
            seed: seed,
            strategy: strategy,
            run: run,
            fileID: fileID,
            line: line,
            schedule: schedule
        )
    }
}
