import class Foundation.ProcessInfo

/// The number of measurements and of tasks.
enum Scale {
    /// A smoke run, that shows that everything builds and runs. `scripts/benchmark --quick` sets it.
    static let isQuick = ProcessInfo.processInfo.environment["TASK_CONTROL_BENCHMARK_QUICK"] != nil

    /// The number of rounds, in each of which both sides run. Odd, so that a median is one of the measured values.
    static let rounds = isQuick ? 1 : 15

    /// The number of tasks that a side starts in each round.
    static let tasks = 100_000
}
