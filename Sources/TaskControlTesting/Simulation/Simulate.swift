internal import TaskControl

/// Runs a body once per seed, each time in a different order, and in virtual time.
///
/// ```swift
/// @Test func theLastVisitorTurnsOffTheLight() throws {
///     try simulate(seeds: 0..<1_000) { sim in
///         let room = Room()
///         async let one: Void = room.visit()
///         async let two: Void = room.visit()
///         _ = await (one, two)
///         sim.expect(await room.isDark, "the room is dark after both visitors have left")
///     }
/// }
/// ```
///
/// One thread runs everything in the body: tasks regardless of how they are created, actors, the main actor, and sleeps. Where
/// several jobs can run, the strategy and the seed decide which of them does. Time stands still while any job can run, and then
/// jumps to the next deadline: `Task.sleep`, `ContinuousClock`, `SuspendingClock` and everything built on them take no real time.
/// A seed and a strategy produce the same schedule each time, as long as the program is the same. (``SimulationStrategy/pct(depth:steps:)``
/// without `steps` also uses the length of the earlier schedules of the call.)
///
/// A schedule ends when the body has returned and every task that it started has ended. A schedule fails if the body throws, if
/// an expectation of ``Simulation/expect(_:_:fileID:filePath:line:column:)`` does not hold, if nothing can run before the end
/// (deadlock), if the schedule takes more than `maxSteps` steps (livelock), or if another thread takes part (escape). The first
/// seed that fails ends the call. Its schedule is then run again with fewer and fewer deviations from the plain schedule, at most
/// 200 times, and the failure shows the shortest schedule that still fails. An error of Swift Testing's `#require` has been
/// recorded already: it is rethrown unchanged, and the failure is written to standard error.
///
/// ## Limits
/// A body that leaves its thread fails as an escape, at once and under every seed, with the name of the call. Escapes are: work that is given to
/// another thread or a Dispatch queue (`URLSession` and `OperationQueue` do so too), a timer of a run loop, a socket, another process, the
/// executor of an actor, and a wait that would block, such as `DispatchSemaphore.wait()`. `DispatchQueue.sync` runs on the calling thread, and is
/// allowed. Threads that existed before the body and find their work without being woken, in a variable or a pipe, are not seen. If such a thread
/// resumes a task before the end, the seed fails as an escape. Until then, a time limit in the body can expire without any real time passing, and
/// a body that has nothing else to do fails as a deadlock.
///
/// The code between two suspension points is one step. Use ThreadSanitizer to find data races.
///
/// All clocks of the process are virtual for the body, including those of C, except the clocks of processor time. A call that blocks the thread
/// for a time, such as `Thread.sleep` or `usleep`, takes virtual time, and appears in the schedule. If one step reads the clock more than
/// 10,000 times, virtual time passes with each further read, by 1 µs at first and then by more and more, so that a loop that waits for a
/// time ends.
///
/// A step that blocks its thread, or never suspends, hangs the simulation. After 5 seconds of real time a line on standard error names the
/// seed, the step, the task, and the blocking call if it is known. The environment variable `TASKCONTROL_WATCHDOG` sets another number of
/// seconds; 0 turns the line off. If the process crashes inside a simulation, such a line is printed before the backtrace.
///
/// A hop to an actor ends a step, so that any other job may run before the task arrives there. Tasks that are created on an actor begin
/// in the order of their priority and creation, as in the runtime.
///
/// Simulations take turns on the main actor, but an ordinary test on the main actor runs beside them, on another thread: tests that share
/// state of the process, or a global actor, must be serialized. The system's random generator stays random (use ``Simulation/random``
/// instead), and the order of a `Set` or `Dictionary` differs from process to process. `checksDeterminism` finds programs whose schedule
/// depends on such a source, if two runs in one process differ. A failed `#expect` in the body is recorded without the seed, and the other
/// seeds run all the same: use ``Simulation/expect(_:_:fileID:filePath:line:column:)``, or the trait `.simulated` of `TaskControlTestingTraits`.
///
/// The call blocks its thread. Tasks that a failed seed leaves behind never run again and are never deallocated, since their continuations
/// may still be in use: each keeps about 2.6 kB, and everything that its variables hold, until the process ends.
///
/// ## Environment
/// - `TASKCONTROL_SEED=3` runs only that seed, in place of `seeds`. With ``SimulationStrategy/exhaustive(preemptions:)`` this is one schedule, the
///   plain one: set `TASKCONTROL_SCHEDULE` instead.
/// - `TASKCONTROL_SCHEDULE=3:12=1` runs only that schedule.
/// - `TASKCONTROL_SEEDS=100000` runs that many seeds, from the lower bound of `seeds` on.
/// - `TASKCONTROL_ARTIFACTS=folder` writes a failure into a file in that folder, named after the file and the line of the call and the seed. The
///   folder is created if it does not exist.
/// - `TASKCONTROL_SIMULATION=experimental` enables simulations on Apple's platforms, where they have not been run yet: see <doc:Interposition>.
///
/// An empty variable counts as not set. The variables apply to all calls of the process: run one test with
/// `swift test --filter`, since a test that expects a particular seed to fail would fail itself.
///
/// - Parameters:
///   - seeds: The seeds, one schedule per seed. For ``SimulationStrategy/exhaustive(preemptions:)`` their number limits the schedules.
///   - strategy: The strategy that picks the next job.
///   - maxSteps: The number of steps after which a schedule fails as a livelock. At least 1.
///   - checksDeterminism: Whether each seed runs twice, and fails if the two runs differ.
///   - fileID: The file of the call, shown in the failure.
///   - filePath: The path of that file, shown in the failure.
///   - line: The line of the call, shown in the failure.
///   - column: The column of the call, shown in the failure.
///   - body: The code under test. It inherits the task-locals of the caller.
/// - Returns: The number of schedules that were run, and the number of different ones.
/// - Throws: ``SimulationFailure`` for the first seed that fails; ``SimulationUnsupportedError`` where there is no simulation;
///   ``SimulationEnvironmentError`` if a variable is not valid.
@discardableResult
public func simulate(
    seeds: Range<UInt64> = 0..<1_000,
    strategy: SimulationStrategy = .swarm,
    maxSteps: Int = 100_000,
    checksDeterminism: Bool = false,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Simulation) async throws -> Void
) throws -> SimulationReport {
    let location = CheckLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let call = SimulationCall(maxSteps: maxSteps, location: location)
    var runner = try SimulationRunner(call, checksDeterminism: checksDeterminism, isShrinking: true, body)
    let environment = try SimulationEnvironment()
    if let schedule = environment.schedule { return try runner.run(schedule) }
    return try runner.run(environment.seeds(insteadOf: seeds), strategy)
}

/// Runs a body once, under one seed, to replay a failure. See
/// ``simulate(seeds:strategy:maxSteps:checksDeterminism:fileID:filePath:line:column:_:)``.
///
/// The variables that select seeds and schedules do not apply, and a failure is not shortened.
///
/// - Returns: The fingerprint of the schedule, its number of steps, and the virtual time that passed.
/// - Throws: ``SimulationFailure`` if the seed fails; ``SimulationUnsupportedError`` where there is no simulation.
@discardableResult
public func simulate(
    seed: UInt64,
    strategy: SimulationStrategy = .swarm,
    maxSteps: Int = 100_000,
    checksDeterminism: Bool = false,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Simulation) async throws -> Void
) throws -> SimulationRun {
    let location = CheckLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let call = SimulationCall(maxSteps: maxSteps, location: location)
    var runner = try SimulationRunner(call, checksDeterminism: checksDeterminism, isShrinking: false, body)
    return try runner.run(seed, strategy)
}

/// Runs a body once, with the choices of a schedule that a failure has printed. See
/// ``simulate(seeds:strategy:maxSteps:checksDeterminism:fileID:filePath:line:column:_:)``.
///
/// The strategy that made the choices is not used. The variables that select seeds and schedules do not apply, and a failure is not
/// shortened.
///
/// - Returns: The fingerprint of the schedule, its number of steps, and the virtual time that passed.
/// - Throws: ``SimulationFailure`` if the schedule fails; ``SimulationUnsupportedError`` where there is no simulation.
@discardableResult
public func simulate(
    schedule: SimulationSchedule,
    maxSteps: Int = 100_000,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Simulation) async throws -> Void
) throws -> SimulationRun {
    let location = CheckLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let call = SimulationCall(maxSteps: maxSteps, location: location)
    var runner = try SimulationRunner(call, checksDeterminism: false, isShrinking: false, body)
    return try runner.runOne(schedule)
}
