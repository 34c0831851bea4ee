internal import TaskControl

/// The method by which a simulation picks the job that runs next.
///
/// The default, ``swarm``, is right for most tests. For a program of a few tasks, ``exhaustive(preemptions:)`` shows that no schedule fails, up
/// to its bound on preemptions.
public struct SimulationStrategy: Hashable, Sendable, CustomStringConvertible {
    enum Kind: Hashable {
        case swarm
        case random
        case sticky
        case partialOrder
        case pct(depth: Int, steps: Int?)
        case inOrder
        case exhaustive(preemptions: Int)
        case schedule(SimulationSchedule)
    }

    let kind: Kind
    /// Whether timers may fire although jobs are ready.
    private(set) var hasSlowness = false
    /// Whether created tasks may start before their creator continues.
    private(set) var hasEarlyStarts = false

    /// Whether the schedule is one of an exhaustive search.
    private(set) var isSearch = false

    init(kind: Kind, isSearch: Bool = false) {
        self.kind = kind
        self.isSearch = isSearch
        guard case .schedule(let schedule) = kind else { return }
        hasSlowness = schedule.hasSlowness
        hasEarlyStarts = schedule.hasEarlyStarts
    }

    /// The default: each seed draws ``random``, ``sticky``, ``partialOrder``, or ``pct(depth:steps:)`` of depth 2 or 3.
    ///
    /// Each of these strategies misses bugs that another one finds at once. A failure names the strategy that its seed has drawn. Since the
    /// strategy depends on the seed alone, ``pct(depth:steps:)`` is drawn without `steps`.
    ///
    /// The method is swarm testing (Groce, Zhang, Eide, Chen, Regehr: *Swarm Testing*, ISSTA 2012).
    public static let swarm = SimulationStrategy(kind: .swarm)

    /// Every ready job runs next with the same probability, at every step.
    public static let random = SimulationStrategy(kind: .random)

    /// The task that ran last continues in seven of eight cases; otherwise every ready job has the same probability.
    public static let sticky = SimulationStrategy(kind: .sticky)

    /// Each job has a random rank, and the ready job of the highest rank runs. Finds bugs that depend on the order of several distant steps.
    ///
    /// This is partial order sampling in its basic form (Yuan, Yang, Gu: *Partial Order Aware Concurrency Sampling*, CAV
    /// 2018).
    public static let partialOrder = SimulationStrategy(kind: .partialOrder)

    /// The plain schedule: the task that ran last continues if it can; otherwise the job that has been ready longest runs. The seed decides
    /// only the numbers of ``Simulation/random``.
    public static let inOrder = SimulationStrategy(kind: .inOrder)

    /// Gives each task a random rank, and runs the ready task of the highest rank; at `depth - 1` random moments, the task that would run drops
    /// to the lowest rank.
    ///
    /// Finds bugs that need one task to be delayed for long, which ``random`` hardly ever finds.
    ///
    /// This is probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: *A Randomized Scheduler
    /// with Probabilistic Guarantees of Finding Bugs*, ASPLOS 2010): one seed finds a bug that needs `depth` orderings,
    /// in a program of *n* tasks and *k* steps, with a probability of at least 1 ÷ (*n* · *k*^(depth − 1)). If *k* is unknown, the moments
    /// are drawn so that each order of magnitude has the same chance, and the probability is at least 1 ÷ (*n* · (15 *k*)^(depth − 1)).
    /// Both hold as long as no job is ready for more than about 200 steps without running: such a job runs first, so that a program that spins
    /// ends.
    ///
    /// - Parameters:
    ///   - depth: The number of orderings that the bug needs, at least 1. Most bugs need 2 or 3.
    ///   - steps: The expected length *k* of a schedule, at least 1. If `nil`, the number of steps of the longest schedule that the same call
    ///     of `simulate` has run before; *k* is unknown for its first seed. A failure names the number that its seed had.
    public static func pct(depth: Int, steps: Int? = nil) -> SimulationStrategy {
        insist(depth >= 1, "The depth of .pct is the number of orderings a bug needs: at least 1, not \(depth).")
        insist(
            steps ?? 1 >= 1,
            "The steps of .pct are the expected length of a schedule: at least 1, not \(steps ?? 0)."
        )
        return SimulationStrategy(kind: .pct(depth: depth, steps: steps))
    }

    /// Runs every schedule, one after another, in which tasks that could continue are interrupted at most the given number of times.
    ///
    /// Suitable for programs of a few tasks and about ten choices at most. `simulate` returns a ``SimulationReport`` that says whether all
    /// schedules have run; the number of its `seeds` limits the schedules. All of them have the first seed. The moments of
    /// ``Simulation/atAnyPoint(_:)`` are among the choices.
    ///
    /// The bound is that of Musuvathi and Qadeer (*Iterative Context Bounding for Systematic Testing of Multithreaded
    /// Programs*, PLDI 2007): most bugs need at most two.
    ///
    /// - Parameter preemptions: The greatest number of interruptions per schedule, zero or more.
    public static func exhaustive(preemptions: Int = 2) -> SimulationStrategy {
        insist(preemptions >= 0, "The preemptions of .exhaustive must not be negative; \(preemptions) is.")
        return SimulationStrategy(kind: .exhaustive(preemptions: preemptions))
    }

    /// Returns the same strategy with slowness: a timer may fire although jobs are ready, as on a busy machine.
    ///
    /// Finds code that uses a sleep as a guarantee that something else has happened meanwhile. A correct program that assumes some speed (a
    /// lease that is renewed in time, a debounce that sees every event) fails too.
    public func withSlowness() -> SimulationStrategy {
        var strategy = self
        strategy.hasSlowness = true
        return strategy
    }

    /// Returns the same strategy with early starts: a created task may run up to its first suspension before its creator continues, as if on
    /// another thread.
    ///
    /// Finds code that creates a task first and registers it afterwards.
    ///
    /// The new task runs on top of its creator, on the same thread. A program that creates a task while it holds a lock, and takes
    /// that lock in the task, hangs the simulation or traps, although the program is correct.
    public func withEarlyStarts() -> SimulationStrategy {
        var strategy = self
        strategy.hasEarlyStarts = true
        return strategy
    }

    /// The strategy as an expression, such as `.pct(depth: 2)`.
    public var description: String {
        let arguments =
            switch kind {
            case .swarm, .random, .sticky, .partialOrder, .inOrder: ""
            case .pct(let depth, let steps): "(depth: \(depth)" + (steps.map { ", steps: \($0)" } ?? "") + ")"
            case .exhaustive(let preemptions): "(preemptions: \(preemptions))"
            case .schedule(let schedule): " \(schedule)"
            }
        if case .schedule = kind { return "\(name)\(arguments)" }
        return "\(name)\(arguments)" + (hasSlowness ? ".withSlowness()" : "")
            + (hasEarlyStarts ? ".withEarlyStarts()" : "")
    }

    /// The part of the description before the arguments. Static, so that the handler of a crash can print it.
    var name: StaticString {
        switch kind {
        case .swarm: ".swarm"
        case .random: ".random"
        case .sticky: ".sticky"
        case .partialOrder: ".partialOrder"
        case .pct: ".pct"
        case .inOrder: ".inOrder"
        case .exhaustive: ".exhaustive"
        case .schedule: "the schedule"
        }
    }

    // MARK: Seeds

    /// Whether each seed draws a strategy of its own.
    // A pattern, since `==` of the kinds is slow in a debug build.
    var isSwarm: Bool { if case .swarm = kind { true } else { false } }

    /// The strategy that a seed draws.
    func drawn(by seed: UInt64) -> SimulationStrategy {
        guard isSwarm else { return self }
        // Another sequence than that of the choices.
        var generator = SeededGenerator(seed: seed ^ 0xA5A5_5A5A_C3C3_3C3C)
        return switch generator.next() % 5 {
        case 0: with(.random)
        case 1: with(.sticky)
        case 2: with(.partialOrder)
        case 3: with(.pct(depth: 2, steps: nil))
        default: with(.pct(depth: 3, steps: nil))
        }
    }

    /// The strategy with the length of the program, if it depends on the length.
    func with(steps: Int) -> SimulationStrategy {
        guard case .pct(let depth, nil) = kind else { return self }
        return with(.pct(depth: depth, steps: steps))
    }

    /// Whether the seed alone decides the schedule of a call of `simulate` that names the strategy in the source.
    var dependsOnSeedAlone: Bool {
        switch kind {
        case .schedule, .exhaustive, .pct(_, .some): false
        case .swarm, .random, .sticky, .partialOrder, .inOrder, .pct(_, nil): true
        }
    }

    func with(_ kind: Kind) -> SimulationStrategy {
        var strategy = SimulationStrategy(kind: kind)
        strategy.hasSlowness = hasSlowness
        strategy.hasEarlyStarts = hasEarlyStarts
        return strategy
    }
}
