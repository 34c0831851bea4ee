#if os(Linux) || canImport(Darwin)
import CTaskControlTesting

extension TCStrategy {
    /// Creates the C value of a strategy, which the crash handler can print: the handler can neither allocate memory
    /// nor run Swift code.
    init(_ strategy: Simulation.Strategy) {
        var arguments: (depth: Int64, steps: Int64) = (-1, -1)
        if case .pct(let depth, let steps) = strategy.kind {
            arguments.depth = Int64(depth)
            if let steps { arguments.steps = Int64(steps) }
        }
        self.init(
            name: strategy.name.utf8Start,
            depth: arguments.depth,
            steps: arguments.steps,
            hasSlowness: strategy.hasSlowness,
            hasEarlyStarts: strategy.hasEarlyStarts
        )
    }
}
#endif
