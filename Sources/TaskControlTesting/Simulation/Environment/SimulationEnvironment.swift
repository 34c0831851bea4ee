/// The environment variables that control simulations: they replay a seed or a schedule, or change the number of seeds,
/// without a change of the source code.
package struct SimulationEnvironment {
    /// The value of `TASKCONTROL_SCHEDULE`: the only schedule to run; `nil` if it is not set.
    let schedule: Simulation.Schedule?
    /// The value of `TASKCONTROL_SEED`: the only seed to run; `nil` if it is not set.
    private let seed: UInt64?
    /// The value of `TASKCONTROL_SEEDS`: the number of seeds to run; `nil` if it is not set.
    private let count: UInt64?

    /// Reads the variables from the environment of the process, or from another source.
    ///
    /// - Parameter value: A closure that returns the value of the variable with the given name; `nil` if the variable
    ///   is not set.
    /// - Throws: `SimulationEnvironmentError` if a variable has an invalid value.
    package init(_ value: (String) -> String? = System.environment) throws(SimulationEnvironmentError) {
        schedule = try Self.schedule("TASKCONTROL_SCHEDULE", value)
        seed = try Self.number("TASKCONTROL_SEED", in: 0...UInt64.max - 1, value)
        count = try Self.number("TASKCONTROL_SEEDS", in: 1...UInt64.max, value)
    }

    /// Returns the seeds to run: those of `TASKCONTROL_SEED` or `TASKCONTROL_SEEDS` if one of them is set.
    ///
    /// - Parameter seeds: The seeds that the call of `simulate` names. They are returned unchanged if neither variable
    ///   is set.
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
    ) throws(SimulationEnvironmentError) -> Simulation.Schedule? {
        guard let text = value(name) else { return nil }
        guard let schedule = Simulation.Schedule(text) else {
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

/// The error that `simulate` throws if an environment variable that controls simulations has an invalid value.
///
/// The error is thrown before any seed runs, so that a mistyped value is never ignored.
package struct SimulationEnvironmentError: Error, Hashable, CustomStringConvertible {
    /// The name of the variable, such as `TASKCONTROL_SEED`.
    package let variable: String
    /// The value of the variable.
    package let value: String
    private let expected: String
    private let example: String

    init(variable: String, value: String, expected: String, example: String) {
        self.variable = variable
        self.value = value
        self.expected = expected
        self.example = example
    }

    /// A text with the variable, its value, and an example of a valid value.
    package var description: String {
        "\(variable)=\(value) is not \(expected). Give one, such as \(variable)=\(example), or unset the variable."
    }
}
