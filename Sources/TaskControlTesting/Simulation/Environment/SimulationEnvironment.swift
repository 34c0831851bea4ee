/// The environment variables that control simulations: they replay a seed, or run more seeds, without a change of the source.
package struct SimulationEnvironment {
    /// The value of `TASKCONTROL_SCHEDULE`: the only schedule to run.
    let schedule: SimulationSchedule?
    /// The value of `TASKCONTROL_SEED`: the only seed to run.
    private let seed: UInt64?
    /// The value of `TASKCONTROL_SEEDS`: the number of seeds to run.
    private let count: UInt64?

    /// Reads the variables.
    ///
    /// - Parameter value: The value of a variable; `nil` if it is not set.
    package init(_ value: (String) -> String? = System.environment) throws(SimulationEnvironmentError) {
        schedule = try Self.schedule("TASKCONTROL_SCHEDULE", value)
        seed = try Self.number("TASKCONTROL_SEED", in: 0...UInt64.max - 1, value)
        count = try Self.number("TASKCONTROL_SEEDS", in: 1...UInt64.max, value)
    }

    /// Returns the seeds to run, in place of the seeds that the source names.
    package func seeds(insteadOf seeds: Range<UInt64>) -> Range<UInt64> {
        if let seed { return seed..<seed + 1 }
        guard let count else { return seeds }
        let (end, isBeyond) = seeds.lowerBound.addingReportingOverflow(count)
        return seeds.lowerBound..<(isBeyond ? .max : end)
    }

    private static func number(
        _ name: String,
        in bounds: ClosedRange<UInt64>,
        _ value: (String) -> String?
    ) throws(SimulationEnvironmentError) -> UInt64? {
        guard let text = value(name) else { return nil }
        guard let number = UInt64(text), bounds.contains(number) else {
            throw SimulationEnvironmentError(
                variable: name,
                value: text,
                expected: "a number from \(bounds.lowerBound) to \(bounds.upperBound)",
                example: "3"
            )
        }
        return number
    }

    private static func schedule(
        _ name: String,
        _ value: (String) -> String?
    ) throws(SimulationEnvironmentError) -> SimulationSchedule? {
        guard let text = value(name) else { return nil }
        guard let schedule = SimulationSchedule(text) else {
            throw SimulationEnvironmentError(
                variable: name,
                value: text,
                expected: "a schedule as a failure prints it",
                example: "'3:12=1,40=3'"
            )
        }
        return schedule
    }
}

/// The error of an environment variable that controls simulations and has an invalid value.
///
/// Thrown before any seed runs, so that a mistyped variable is never ignored.
public struct SimulationEnvironmentError: Error, Hashable, CustomStringConvertible {
    /// The name of the variable, such as `TASKCONTROL_SEED`.
    public let variable: String
    /// The value of the variable.
    public let value: String
    private let expected: String
    private let example: String

    init(variable: String, value: String, expected: String, example: String) {
        self.variable = variable
        self.value = value
        self.expected = expected
        self.example = example
    }

    /// The variable, its value, and an example of a valid value.
    public var description: String {
        "\(variable)=\(value) is not \(expected). Give one, such as \(variable)=\(example), or unset the variable."
    }
}
