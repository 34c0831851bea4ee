internal import TaskControl

/// Runs a test body once per seed in virtual time, each time with another order of its tasks, to find concurrency bugs.
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
/// One thread runs all code of the body: all tasks, however they are created, actors, the main actor, and sleeps. A
/// *job* is the part of a task between two suspension points; a *schedule* is the order in which the jobs of one run
/// are executed. Where several jobs can run, the strategy and the seed decide which of them runs. Virtual time jumps to
/// the next deadline when no job can run: `Task.sleep`, `ContinuousClock`, `SuspendingClock` and everything built on
/// them take no real time. While a job can run, virtual time stands still, except with
/// ``Simulation/Strategy/withSlowness()``, in calls that block the thread, when a step reads the clock very often
/// (see Limits), and while the program polls: after 500 steps in a row in which tasks only yield, or go to an actor and back,
/// each such step takes a microsecond, and twice as long after each further 500. A clock never shows the same time twice: each read takes a
/// nanosecond. The same seed and strategy produce the same schedule, as long as the program is the same and does not
/// depend on other sources of chance (see Limits). ``Simulation/Strategy/pct(depth:steps:)`` without `steps` also uses
/// the length of earlier schedules of the same call.
///
/// A run ends when the body has returned and every task that it started has ended. A run fails if the body throws, if
/// an expectation of ``Simulation/expect(_:_:fileID:filePath:line:column:)`` does not hold, if no job can run although
/// tasks have not ended (deadlock), if a task waits for a lock that another task holds over an await, if the run takes
/// more than `maxSteps` steps (livelock), or if another thread takes part (escape). The call ends with the first seed that
/// fails. The schedule of the failed run is then shortened: the body runs again, at most 200 times and for at most twice as
/// many steps as the failure took, with fewer and fewer deviations from the plain schedule (see ``Simulation/Schedule``),
/// without the faults that the failure does not need, and with simple numbers of ``Simulation/random``. The failure shows
/// the shortest schedule that still fails. See the documentation of
/// ``Simulation/Failure/shortestSchedule`` for the failures whose schedule is not shortened.
///
/// If Swift Testing's `#require` throws in the body, it has already recorded its error as an issue. Therefore
/// `simulate` rethrows this error unchanged in place of a ``Simulation/Failure``, and writes the failure to standard
/// error.
///
/// ## Limits
/// A body that uses another thread fails as an escape, at once and under every seed, and the failure names the called
/// function and its caller. Escapes are: work that is given to another thread or a Dispatch queue (also by `URLSession` and
/// `OperationQueue`), a timer of a run loop, a socket or a pipe, another process, an actor with a custom executor, and a
/// wait that would block, such as `DispatchSemaphore.wait()`. `DispatchQueue.sync` runs on the calling thread, and is
/// allowed, and so are calls in ``Simulation/outside(_:)``. The simulation does not notice threads that existed before the
/// body and find their work without being woken, for example in a variable. If such a thread resumes a task before the run ends, the run fails as an
/// escape. Until then, a time limit in the body can expire without any real time passing, and a body that only waits
/// for such a thread fails as a deadlock.
///
/// The code between two suspension points is one step: the simulation never interrupts it. Use ThreadSanitizer to find data races.
///
/// All clocks of the process are virtual for the body, including those of C, except the clocks of processor time. A call that blocks the thread
/// for a time, such as `Thread.sleep` or `usleep`, takes virtual time, and appears in the schedule. If one step reads the clock more than
/// 10,000 times, virtual time passes with each further read, by 1 µs at first and then by more and more, so that a loop that waits for a
/// time ends.
///
/// A step that never ends, such as an endless loop without a suspension or a blocking call, ends the process. After 5
/// seconds of real time in one step, a line on standard error names the seed, the step, the task, and the blocking call if
/// it is known. After 60 seconds, the process ends with `SIGTRAP` and a backtrace, unless a debugger is attached. Set the
/// environment variable `TASKCONTROL_WATCHDOG` to change the number of seconds before the line; the process ends after
/// twelve times as many. 0 disables both. If the process crashes inside a simulation, a similar line is
/// printed before the backtrace.
///
/// A hop to an actor ends a step, so that any other job may run before the task arrives at the actor. In an optimized build,
/// the compiler removes some hops: there are fewer steps, and fewer schedules, than in a debug build. Tasks that are created on an actor
/// begin in the order of their priority and creation, as in the runtime.
///
/// Only one simulation at a time uses the main actor, and simulations that share another actor run one after another. An
/// ordinary test on that actor can run concurrently, on another thread: serialize tests that share state of the process, or
/// a global actor. On Linux, the seed decides the numbers of the system's random generators, and hashing is the same in each
/// process, so that a `Set` has one order (see <doc:Interposition>). `checksDeterminism` finds a program that depends on
/// another source of chance, but only if two runs in the same process differ. A failed `#expect` in the body is recorded without the seed, and the remaining seeds still run:
/// use ``Simulation/expect(_:_:fileID:filePath:line:column:)``, or the trait `.simulated` of
/// `TaskControlTestingTraits`.
///
/// The call blocks its thread until it returns or throws. It traps if it is made inside another simulation. Tasks that
/// a failed seed leaves behind never run again and are never deallocated, since their continuations may still be in
/// use: each keeps about 2.6 kB, and everything that its variables retain, until the process ends.
///
/// ## Environment
/// - `TASKCONTROL_SEED=3` runs only that seed, in place of `seeds`. With
///   ``Simulation/Strategy/exhaustive(preemptions:)``, it runs only the plain schedule: set `TASKCONTROL_SCHEDULE`
///   instead.
/// - `TASKCONTROL_SCHEDULE=3:12=1` runs only the schedule with that ``Simulation/Schedule/description``.
/// - `TASKCONTROL_SEEDS=100000` runs that many seeds, from the lower bound of `seeds` on.
/// - `TASKCONTROL_ARTIFACTS=folder` writes the description of a failure, with all steps, into a file in that folder. The file is named after the source file
///   and line of the call and the seed. The folder is created if it does not exist.
/// - `TASKCONTROL_SIMULATION=experimental` enables simulations on Apple's platforms, where they have not been run yet: see <doc:Interposition>.
///
/// An empty variable counts as not set. The variables apply to all calls of `simulate` in the process, except that
/// `TASKCONTROL_SEED`, `TASKCONTROL_SCHEDULE` and `TASKCONTROL_SEEDS` do not apply to calls with the parameter `seed`
/// or `schedule`. When you set one of these three variables, run a single test with `swift test --filter`. Otherwise
/// other tests run with the seeds or the schedule of the variable too, and a test that expects `simulate` to find a
/// failure under one of its own seeds can fail, because that seed is not run.
///
/// - Parameters:
///   - seeds: The seeds. Each seed is one run, or two runs with `checksDeterminism`. For
///     ``Simulation/Strategy/exhaustive(preemptions:)``, the number of seeds is the maximum number of schedules.
///   - strategy: The method that chooses the job that runs next.
///   - maxSteps: The number of steps after which a run fails as a livelock. Traps if the number is less than 1.
///   - checksDeterminism: If `true`, each seed runs twice, and fails if its two runs differ. If `false`, each seed runs
///     once.
///   - fileID: The file of the call, shown in the failure.
///   - filePath: The path of that file, shown in the failure.
///   - line: The line of the call, shown in the failure.
///   - column: The column of the call, shown in the failure.
///   - body: The code under test. Receives the ``Simulation`` of the run, and inherits the caller's task-locals.
/// - Returns: A report with the number of schedules that were run, and the number of different schedules among them.
/// - Throws: ``Simulation/Failure`` for the first seed that fails, or if a condition of
///   ``Simulation/sometimes(_:_:fileID:filePath:line:column:)`` was never true; or, if it fails because `#require` throws, the error
///   of `#require`; ``Simulation/UnsupportedError`` if the platform does not support simulations;
///   an error if an environment variable has an invalid value.
@discardableResult
public func simulate(
    seeds: Range<UInt64> = 0..<1_000,
    strategy: Simulation.Strategy = .swarm,
    maxSteps: Int = 100_000,
    checksDeterminism: Bool = false,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Simulation) async throws -> Void
) throws -> Simulation.Report {
    let location = Simulation.Location(fileID: fileID, filePath: filePath, line: line, column: column)
    let call = SimulationCall(maxSteps: maxSteps, location: location)
    var runner = try SimulationRunner(call, checksDeterminism: checksDeterminism, isShrinking: true, body)
    let environment = try SimulationEnvironment()
    if let schedule = environment.schedule { return try runner.run(schedule) }
    return try runner.run(environment.seeds(insteadOf: seeds), strategy)
}

/// Runs a test body with a single seed, to replay a failure. The other parameters are those of
/// ``simulate(seeds:strategy:maxSteps:checksDeterminism:fileID:filePath:line:column:_:)``.
///
/// The environment variables that select seeds and schedules do not apply, and the schedule of a failure is not shortened.
///
/// - Returns: The seed, the fingerprint (a hash) of the schedule, its number of steps, and the virtual time that has
///   passed.
/// - Throws: ``Simulation/Failure`` if the run fails, or, if it fails because `#require` throws, the error of
///   `#require`; ``Simulation/UnsupportedError`` if the platform does not support simulations.
@discardableResult
public func simulate(
    seed: UInt64,
    strategy: Simulation.Strategy = .swarm,
    maxSteps: Int = 100_000,
    checksDeterminism: Bool = false,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Simulation) async throws -> Void
) throws -> Simulation.Run {
    let location = Simulation.Location(fileID: fileID, filePath: filePath, line: line, column: column)
    let call = SimulationCall(maxSteps: maxSteps, location: location)
    var runner = try SimulationRunner(call, checksDeterminism: checksDeterminism, isShrinking: false, body)
    return try runner.run(seed, strategy)
}

/// Runs a test body once, with a given schedule, to replay a failure whose description contains the schedule. The other
/// parameters are those of ``simulate(seeds:strategy:maxSteps:checksDeterminism:fileID:filePath:line:column:_:)``.
///
/// The schedule replaces the strategy. The environment variables that select seeds and schedules do not apply, and the schedule of a
/// failure is not shortened.
///
/// - Returns: The seed, the fingerprint (a hash) of the schedule, its number of steps, and the virtual time that has
///   passed.
/// - Throws: ``Simulation/Failure`` if the run fails, or, if it fails because `#require` throws, the error of
///   `#require`; ``Simulation/UnsupportedError`` if the platform does not support simulations.
@discardableResult
public func simulate(
    schedule: Simulation.Schedule,
    maxSteps: Int = 100_000,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Simulation) async throws -> Void
) throws -> Simulation.Run {
    let location = Simulation.Location(fileID: fileID, filePath: filePath, line: line, column: column)
    let call = SimulationCall(maxSteps: maxSteps, location: location)
    var runner = try SimulationRunner(call, checksDeterminism: false, isShrinking: false, body)
    return try runner.runOne(schedule)
}
