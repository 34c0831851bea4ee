/// The context that ``simulate(seeds:strategy:maxSteps:checksDeterminism:fileID:filePath:line:column:_:)`` passes to
/// the body of a test. It provides virtual time, random numbers, expectations, and actions at random points of the
/// schedule.
///
/// Only tasks of that body, and actions of ``atAnyPoint(_:)``, may use the context. If another thread uses it, the run
/// fails as an escape (see ``SimulationFailure/Reason/escaped(_:)``).
public final class Simulation: Sendable {
    /// Whether `simulate` works in this process, that is, whether the seed can decide the order of its tasks.
    public static var isSupported: Bool { capabilities.includes(.schedules) }

    /// The features of the simulation that work in this process. They are detected once per process.
    package static var capabilities: SimulationCapabilities { SimulationSupport.capabilities }

    /// The seed of this run.
    public let seed: UInt64
    private let host: any SimulationHost

    init(seed: UInt64, host: any SimulationHost) {
        self.seed = seed
        self.host = host
    }

    /// The virtual time that has passed since the body began.
    ///
    /// Virtual time passes when no job can run, when a call blocks the thread, when one step reads the clock more than
    /// 10,000 times, and, with ``SimulationStrategy/withSlowness()``, while jobs can run.
    public var now: Duration { host.elapsed }

    /// A generator of random numbers that are derived from the seed. All its copies continue the same sequence of
    /// numbers. Use it in place of `SystemRandomNumberGenerator`, whose numbers differ from run to run.
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
        let location = CheckLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        host.fail(.expectation(message(), location: location))
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
        let location = CheckLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        host.note(text, "\(location)")
    }

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
        host.atAnyPoint(action)
    }
}

/// The functions that a ``Simulation`` calls. Implemented by `SimulationEngine`, which runs the body of the simulation.
protocol SimulationHost: AnyObject, Sendable {
    var elapsed: Duration { get }
    func fail(_ reason: SimulationFailure.Reason)
    func note(_ text: String, _ location: String)
    func atAnyPoint(_ action: @escaping @Sendable () -> Void)
    /// Returns the next of the random numbers that are derived from the seed; `nil` if the caller is outside the
    /// simulation.
    func draw() -> UInt64?
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
