import class Foundation.ProcessInfo

/// How much is measured.
enum Scale {
    /// A smoke run, that shows that everything builds and runs. `scripts/benchmark --quick` sets it.
    static let isQuick = ProcessInfo.processInfo.environment["TASK_CONTROL_BENCHMARK_QUICK"] != nil

    /// How many times the two sides take turns. Odd, so that a median is one of the measured values.
    static let rounds = isQuick ? 1 : 15

    /// How many tasks one side starts in its turn.
    static let tasks = 100_000
}
