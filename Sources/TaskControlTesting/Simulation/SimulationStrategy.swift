internal import TaskControl

/// How a simulation picks what runs next. Whatever the strategy, the seed alone decides.
public struct SimulationStrategy: Hashable, Sendable, CustomStringConvertible {
    enum Kind: Hashable {
        case random
        case pct(depth: Int)
    }

    let kind: Kind

    /// Whatever can run has the same chance, at every step. Finds most bugs soonest: the one to start with.
    public static let random = SimulationStrategy(kind: .random)

    /// Each task has a rank of its own, drawn from the seed, and the highest that can run runs; at `depth - 1` moments,
    /// drawn too, the one that is running falls to the lowest rank. Finds orders in which one task is left behind for
    /// long, which picking at random hardly ever does.
    ///
    /// This is probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: *A Randomized Scheduler
    /// with Probabilistic Guarantees of Finding Bugs*, ASPLOS 2010): a bug that needs `depth` orderings, in a program
    /// of *n* tasks and *k* steps, is found by one seed with a probability of at least 1 ÷ (*n* · *k*^(depth − 1)).
    /// There *k* is known beforehand; here each seed draws it, from 8 to 2,048. A task that has run 100 steps in a row
    /// falls too, so that a program that spins is not run for ever.
    ///
    /// - Parameter depth: At least 1. Most bugs need 2 or 3.
    public static func pct(depth: Int) -> SimulationStrategy {
        insist(depth >= 1, "The depth of .pct is how many orderings a bug needs: at least 1, not \(depth).")
        return SimulationStrategy(kind: .pct(depth: depth))
    }

    /// As it is written in code.
    public var description: String {
        switch kind {
        case .random: ".random"
        case .pct(let depth): ".pct(depth: \(depth))"
        }
    }
}
