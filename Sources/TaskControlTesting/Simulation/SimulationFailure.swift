/// What went wrong under a seed, with all that is needed to see it again.
///
/// Both Swift Testing and XCTest show ``description`` for an error that a test throws.
public struct SimulationFailure: Error, CustomStringConvertible {
    /// What ended the seed.
    public enum Reason: Sendable, CustomStringConvertible {
        /// The body threw.
        case threw(any Error)
        /// ``Simulation/expect(_:_:fileID:line:)`` was told something that is not so.
        case expectation(String, fileID: String, line: Int)
        /// Nothing can run, nobody sleeps, and the body has not returned.
        case deadlock
        /// More steps than the bound: something goes round and round.
        case livelock(steps: Int)
        /// The body has returned, and nothing will ever resume what it has left behind.
        case leftBehind(tasks: Int)
        /// A thread that the simulation does not own has resumed a task of it, or used it: what comes then no seed decides.
        case escaped(String)
        /// The same seed ran twice and took two ways: something decides that the seed does not.
        case nondeterministic

        /// In a sentence.
        public var description: String {
            switch self {
            case .threw(let error): "the body threw \(error)"
            case .expectation(let message, let file, let line): "\(file):\(line): expected: \(message)"
            case .deadlock: "deadlock: nothing can run, nobody sleeps, and the body has not returned"
            case .livelock(let steps):
                "no end after \(steps) steps: something goes round and round, or maxSteps is too low for this program"
            case .leftBehind(let tasks):
                "the body has returned, and \(tasks) of its tasks will never end: nothing is left that could resume them. "
                    + "Cancel them, or await them, before the body returns"
            case .escaped(let what):
                "\(what), outside the simulation: what comes then no seed decides. "
                    + "Keep what uses threads of its own out of the body, or put something in its place"
            case .nondeterministic:
                "two runs of this seed took two ways: something decides that the seed does not, such as the order of a Set or "
                    + "Dictionary, an address, or state that outlives the body"
            }
        }
    }

    /// What ended the seed.
    public let reason: Reason
    /// The seed that shows it.
    public let seed: UInt64
    /// The strategy under which it does.
    public let strategy: SimulationStrategy
    /// What the seed came to until then: a fingerprint of its schedule, its steps, and virtual time.
    public let run: SimulationRun
    /// Where `simulate` was called.
    public let fileID: String
    /// Where `simulate` was called.
    public let line: Int
    /// What each task that has not ended waits for, and the last steps.
    public let schedule: String

    /// The reason, the line that replays it, who waits for what, and the last steps.
    public var description: String {
        let parameters = strategy == .random ? "seed: \(seed)" : "seed: \(seed), strategy: \(strategy)"
        return """
            seed \(seed): \(reason)
            replay: try simulate(\(parameters)) { … }    at \(fileID):\(line)
            \(schedule)
            """
    }
}

/// The simulation does not work on this platform, or with this version of the Swift runtime.
public struct SimulationUnsupportedError: Error, Hashable, CustomStringConvertible {
    /// For those who ask ``Simulation/isSupported`` themselves.
    public init() {}

    /// What is missing, and how to skip a test for it.
    public var description: String {
        "The simulation needs the concurrency runtime of Swift 6.3 on Linux, linked dynamically, which is not what this program runs on. "
            + "Skip the test with Simulation.isSupported: @Test(.enabled(if: Simulation.isSupported)), or XCTSkipUnless."
    }
}
