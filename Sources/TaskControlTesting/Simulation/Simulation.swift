/// The context that ``simulate(seeds:strategy:maxSteps:checksDeterminism:fileID:filePath:line:column:_:)`` passes to
/// the body of a test. It provides virtual time, random numbers, expectations, and actions at random points of the
/// schedule.
///
/// Only tasks of that body, and actions of ``atAnyPoint(_:)``, may use the context. If another thread uses it, the run
/// fails as an escape (see ``Simulation/Failure/Reason/escaped(_:)``).
public final class Simulation: Sendable {
    /// Whether `simulate` works in this process, that is, whether the seed can decide the order of its tasks.
    public static var isSupported: Bool { capabilities.includes(.schedules) }

    /// The features of the simulation that work in this process. They are detected once per process.
    package static var capabilities: SimulationCapabilities { SimulationSupport.capabilities }

    /// The seed of this run.
    public let seed: UInt64
    fileprivate let host: any SimulationHost

    init(seed: UInt64, host: any SimulationHost) {
        self.seed = seed
        self.host = host
    }

    /// The virtual time that has passed since the body began.
    ///
    /// Virtual time passes when no job can run, when a call blocks the thread, when one step reads the clock more than
    /// 10,000 times, while tasks only yield or go to an actor and back, and, with ``Simulation/Strategy/withSlowness()``, while
    /// other jobs can run. It is that of the program's clocks, each of whose reads takes a nanosecond, in whole microseconds of these reads.
    public var now: Duration { host.elapsed }

    /// A generator of random numbers that are derived from the seed. All its copies continue the same sequence of
    /// numbers.
    ///
    /// When a failure is shortened, its numbers are replaced by 1 where the failure does not need them, so that inputs
    /// that were drawn become simple. The numbers of `SystemRandomNumberGenerator` also depend on the seed, and are not
    /// shortened.
    public var random: some RandomNumberGenerator & Sendable { SimulationGenerator(host: host) }

    /// Fails the run if a condition does not hold.
    ///
    /// Any task of the body may call this function. It does not throw. If the condition does not hold, the step that
    /// calls this function still runs to its end, and is the last step of the run.
    ///
    /// - Parameters:
    ///   - condition: The condition that must hold.
    ///   - message: A description of the condition, shown in the failure.
    ///   - fileID: The file of the call, shown in the failure.
    ///   - filePath: The path of that file, shown in the failure.
    ///   - line: The line of the call, shown in the failure.
    ///   - column: The column of the call, shown in the failure.
    public func expect(
        _ condition: Bool,
        _ message: @autoclosure () -> String = "the condition is true",
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column
    ) {
        guard !condition else { return }
        let location = Simulation.Location(fileID: fileID, filePath: filePath, line: line, column: column)
        host.fail(.expectation(message(), location: location))
    }

    /// Fails the run if two values are not equal, and shows both of them.
    ///
    /// ```swift
    /// sim.expect(await savings.balance, equals: 100, "both transfers have arrived")
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value to check.
    ///   - expected: The value that `value` must be equal to.
    ///   - message: A description of the condition, shown in the failure before the values.
    ///   - fileID: The file of the call, shown in the failure.
    ///   - filePath: The path of that file, shown in the failure.
    ///   - line: The line of the call, shown in the failure.
    ///   - column: The column of the call, shown in the failure.
    public func expect<Value: Equatable>(
        _ value: Value,
        equals expected: Value,
        _ message: @autoclosure () -> String = "the values are equal",
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column
    ) {
        guard value != expected else { return }
        let location = Simulation.Location(fileID: fileID, filePath: filePath, line: line, column: column)
        host.fail(.expectation("\(message()): \(expected), not \(value)", location: location))
    }

    /// Checks that a condition holds at least once in all schedules of a call of `simulate`, here or in another run: that
    /// the test reaches what it is meant to test.
    ///
    /// ```swift
    /// sim.sometimes(await cluster.termCount > 1, "a failover happened")
    /// ```
    ///
    /// After the last seed, `simulate` throws ``Simulation/Failure/Reason/neverHeld(_:location:schedules:)`` if the condition
    /// of a call was never true. A call that is never made is not checked, nor is a call of `simulate` with a single
    /// schedule.
    ///
    /// - Parameters:
    ///   - condition: The condition that must hold sometimes.
    ///   - message: A description of the condition. Calls at the same location with different messages are different
    ///     conditions.
    ///   - fileID: The file of the call, shown in the failure.
    ///   - filePath: The path of that file, shown in the failure.
    ///   - line: The line of the call, shown in the failure.
    ///   - column: The column of the call, shown in the failure.
    public func sometimes(
        _ condition: Bool,
        _ message: String,
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column
    ) {
        let location = Simulation.Location(fileID: fileID, filePath: filePath, line: line, column: column)
        host.sometimes(condition, message, location)
    }

    /// Calls a closure as if it ran outside the simulation: its calls of system functions are no escapes, its clocks and
    /// random numbers are those of the system, and tasks that it creates run on other threads.
    ///
    /// Use this function for code that starts a thread or uses a socket, for example to set up a connection pool or to
    /// write a log, and whose result does not depend on when that thread works. If a thread outside the simulation resumes
    /// a task of the simulation, the run still fails as an escape.
    ///
    /// - Parameter body: Called at once, on the thread of the caller. It must not block until a task of the simulation
    ///   has run.
    /// - Returns: The value of the closure.
    /// - Throws: The error of the closure.
    public func outside<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let hasLeft = host.leave()
        defer { if hasLeft { host.comeBack() } }
        return try body()
    }

    /// Adds a line of text to the steps that the description of a failure lists.
    ///
    /// - Parameters:
    ///   - text: The text of the line.
    ///   - fileID: The file of the call.
    ///   - filePath: The path of that file, printed before the text so that editors turn it into a link.
    ///   - line: The line of the call, printed before the text.
    ///   - column: The column of the call, printed before the text.
    public func note(
        _ text: String,
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column
    ) {
        let location = Simulation.Location(fileID: fileID, filePath: filePath, line: line, column: column)
        host.note(text, "\(location)")
    }

    func beginProcess() -> Int? { host.beginProcess() }

    func inProcess(_ process: Int, _ work: () -> Void) { host.inProcess(process, work) }

    func crash(_ process: Int) { host.crash(process) }

    var isCallerLost: Bool { host.isCallerLost }

    /// Adds a line of text about an event that has no line of the program, such as a fault of a network.
    func noteWithoutLocation(_ text: String) { host.note(text, nil) }

    /// Cancels a task at a point of the schedule that the seed decides. This point can be before the task starts, or
    /// after the task has ended.
    public func cancelAtAnyPoint<Success, Failure>(_ task: Task<Success, Failure>) {
        atAnyPoint { task.cancel() }
    }

    /// Calls a closure at a point of the schedule that the seed decides, between two steps.
    ///
    /// - Parameter action: Called once, outside all tasks, before the run ends. Not called if the run fails first. The closure must not
    ///   block.
    public func atAnyPoint(_ action: @escaping @Sendable () -> Void) {
        atAnyPoint(isFault: false, action)
    }

    /// Calls a closure at a point of the schedule that the seed decides.
    ///
    /// - Parameter isFault: Whether the closure is that of a fault, which adds a note itself, and not one of the program.
    func atAnyPoint(isFault: Bool, _ action: @escaping @Sendable () -> Void) {
        host.atAnyPoint(isFault: isFault, action)
    }
}

/// The functions that a ``Simulation`` calls. Implemented by `SimulationEngine`, which runs the body of the simulation.
protocol SimulationHost: AnyObject, Sendable {
    var elapsed: Duration { get }
    func fail(_ reason: Simulation.Failure.Reason)
    func note(_ text: String, _ location: String?)
    func atAnyPoint(isFault: Bool, _ action: @escaping @Sendable () -> Void)
    /// Returns the next of the random numbers that are derived from the seed; `nil` if the caller is outside the
    /// simulation.
    func draw() -> UInt64?
    /// Returns a random number that is derived from the seed, and is not replaced when a failure is shortened.
    func drawSeed() -> UInt64
    /// Begins a simulated process, and returns its number; `nil` if the simulation cannot tell which tasks belong to it.
    func beginProcess() -> Int?
    /// Does work whose new tasks belong to a process; 0 for none.
    func inProcess(_ process: Int, _ work: () -> Void)
    /// Ends a process: none of its tasks makes a further step.
    func crash(_ process: Int)
    /// Whether the current task belongs to a process that has crashed.
    var isCallerLost: Bool { get }
    /// Returns whether a fault that was drawn happens: `false` in a shortened schedule that does not need it.
    func happens() -> Bool
    func sometimes(_ condition: Bool, _ message: String, _ location: Simulation.Location)
    /// Makes this thread leave the simulation for a while. Returns whether it was inside.
    func leave() -> Bool
    func comeBack()
}

extension Simulation {
    func drawSeed() -> UInt64 { host.drawSeed() }

    func happens() -> Bool { host.happens() }
}

private struct SimulationGenerator: RandomNumberGenerator, Sendable {
    let host: any SimulationHost

    /// Returns the next of the random numbers that are derived from the seed; outside the simulation, a number of the
    /// system's generator. (A constant would hang code that draws until a number satisfies a condition.)
    mutating func next() -> UInt64 {
        var system = SystemRandomNumberGenerator()
        return host.draw() ?? system.next()
    }
}
