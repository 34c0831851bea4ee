/// The context of a body that ``simulate(seeds:strategy:maxSteps:checksDeterminism:fileID:filePath:line:column:_:)`` runs: virtual time,
/// random numbers, expectations, and actions at random moments.
///
/// Only tasks of that body may use it. A use on another thread ends the seed as an escape.
public final class Simulation: Sendable {
    /// Whether `simulate` works in this process: whether ``capabilities`` contain ``SimulationCapabilities/schedules``, which is all that it needs.
    public static var isSupported: Bool { capabilities.includes(.schedules) }

    /// The features of a simulation that work in this process. They are detected once, by trying them.
    public static var capabilities: SimulationCapabilities { SimulationSupport.capabilities }

    /// The seed of this schedule.
    public let seed: UInt64
    private let host: any SimulationHost

    init(seed: UInt64, host: any SimulationHost) {
        self.seed = seed
        self.host = host
    }

    /// The virtual time that has passed since the body began.
    ///
    /// Time passes when nothing can run, when a call blocks the thread, and, with ``SimulationStrategy/withSlowness()``, while jobs can run.
    public var now: Duration { host.elapsed }

    /// A generator of random numbers that the seed decides. The system's own generator stays random.
    public var random: some RandomNumberGenerator & Sendable { SimulationGenerator(host: host) }

    /// Ends the seed as a failure if a condition does not hold.
    ///
    /// Any task of the body may call this. It does not throw: the step that calls it runs to its end, and is the last one.
    ///
    /// - Parameters:
    ///   - condition: The condition that must hold.
    ///   - message: The condition in words, shown in the failure.
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

    /// Adds a line to the steps that a failure prints.
    ///
    /// - Parameters:
    ///   - text: The text of the line.
    ///   - fileID: The file of the call.
    ///   - filePath: The path of that file, printed before the text, so that editors turn it into a link.
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

    /// Cancels a task at a moment that the seed decides, which may be before the task starts or after it has ended.
    public func cancelAtAnyPoint<Success, Failure>(_ task: Task<Success, Failure>) {
        atAnyPoint { task.cancel() }
    }

    /// Calls a closure at a moment that the seed decides, between two steps of the schedule.
    ///
    /// - Parameter action: Called once, outside all tasks, before the seed ends. Not called if the seed fails first. The closure must not
    ///   block.
    public func atAnyPoint(_ action: @escaping @Sendable () -> Void) {
        host.atAnyPoint(action)
    }
}

/// Runs a body, and receives the calls of its ``Simulation``.
protocol SimulationHost: AnyObject, Sendable {
    var elapsed: Duration { get }
    func fail(_ reason: SimulationFailure.Reason)
    func note(_ text: String, _ location: String)
    func atAnyPoint(_ action: @escaping @Sendable () -> Void)
    /// `nil` outside the simulation.
    func draw() -> UInt64?
}

private struct SimulationGenerator: RandomNumberGenerator, Sendable {
    let host: any SimulationHost

    /// Outside the simulation, the system's numbers: a constant would hang code that draws until a number suits it.
    mutating func next() -> UInt64 {
        var system = SystemRandomNumberGenerator()
        return host.draw() ?? system.next()
    }
}
