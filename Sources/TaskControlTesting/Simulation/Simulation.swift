/// The world that the body of ``simulate(seeds:strategy:maxSteps:checksDeterminism:fileID:line:_:)`` runs in, with its
/// time, its randomness and its faults.
///
/// To be used by the tasks of that body alone; anywhere else it ends the seed as an escape.
public final class Simulation: Sendable {
    /// Whether `simulate` works here. Found out once, by trying it.
    public static var isSupported: Bool { SimulationSupport.isSupported }

    /// The seed that decides everything.
    public let seed: UInt64
    private let host: any SimulationHost

    init(seed: UInt64, host: any SimulationHost) {
        self.seed = seed
        self.host = host
    }

    /// How much virtual time has passed. It passes only while nothing can run.
    public var now: Duration { host.elapsed }

    /// Numbers that the seed decides, for programs that take a generator. The system's own generator stays random.
    public var random: some RandomNumberGenerator & Sendable { SimulationGenerator(host: host) }

    /// Ends the seed as a failure unless something is so. Works in any task of the body, and does not throw: the step
    /// that calls it runs to its end, and none comes after it.
    ///
    /// - Parameters:
    ///   - condition: What should be so.
    ///   - message: The same in words, for the failure.
    ///   - fileID: Stands in the failure.
    ///   - line: Stands in the failure.
    public func expect(
        _ condition: Bool,
        _ message: @autoclosure () -> String = "what stands there",
        fileID: String = #fileID,
        line: Int = #line
    ) {
        if !condition { host.fail(.expectation(message(), fileID: fileID, line: line)) }
    }

    /// Puts a line of the program's own into the schedule, for whoever reads it.
    public func note(_ text: String) {
        host.note(text)
    }

    /// Cancels a task at a moment that the seed decides: perhaps before it starts, perhaps after it has ended.
    public func cancelSomewhere<Success, Failure>(_ task: Task<Success, Failure>) {
        somewhere { task.cancel() }
    }

    /// Does something at a moment that the seed decides, between two steps of the schedule.
    ///
    /// - Parameter action: Called once, outside all tasks, before the seed ends; not if the seed fails first. It must not
    ///   wait.
    public func somewhere(_ action: @escaping @Sendable () -> Void) {
        host.somewhere(action)
    }
}

/// What runs a body.
protocol SimulationHost: AnyObject, Sendable {
    var elapsed: Duration { get }
    func fail(_ reason: SimulationFailure.Reason)
    func note(_ text: String)
    func somewhere(_ action: @escaping @Sendable () -> Void)
    func draw() -> UInt64
}

private struct SimulationGenerator: RandomNumberGenerator, Sendable {
    let host: any SimulationHost

    mutating func next() -> UInt64 { host.draw() }
}
