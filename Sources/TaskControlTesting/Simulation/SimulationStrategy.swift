internal import TaskControl

extension Simulation {
    /// The method by which a simulation picks the job that runs next.
    ///
    /// The default, ``swarm``, suits most tests. For a program of a few tasks, ``exhaustive(preemptions:)`` can show that
    /// no schedule fails that has at most a given number of preemptions (interruptions of a task that could continue).
    public struct Strategy: Hashable, Sendable, CustomStringConvertible {
        enum Kind: Hashable {
            case swarm
            case guided
            case random
            case sticky
            case partialOrder
            case pct(depth: Int, steps: Int?)
            case inOrder
            case exhaustive(preemptions: Int)
            case schedule(Simulation.Schedule)
            /// The first `choices` answers are those of the schedule; the following ones are drawn by the seed.
            case continued(Simulation.Schedule, choices: Int, seed: UInt64)
        }

        let kind: Kind
        /// Whether timers may fire although jobs are ready: see ``withSlowness()``.
        private(set) var hasSlowness = false
        /// Whether created tasks may start before their creator continues: see ``withEarlyStarts()``.
        private(set) var hasEarlyStarts = false

        /// Whether the strategy runs one schedule of an exhaustive search (see ``exhaustive(preemptions:)``).
        private(set) var isSearch = false

        /// The schedule that the strategy replays; `nil` for any other strategy.
        var schedule: Simulation.Schedule? { if case .schedule(let schedule) = kind { schedule } else { nil } }

        init(kind: Kind, isSearch: Bool = false) {
            self.kind = kind
            self.isSearch = isSearch
            guard case .schedule(let schedule) = kind else { return }
            hasSlowness = schedule.hasSlowness
            hasEarlyStarts = schedule.hasEarlyStarts
        }

        /// The default strategy: each seed draws one of ``random`` (7 of 16 seeds), ``partialOrder`` (4), ``sticky`` (2), and
        /// ``pct(depth:steps:)`` with a depth of 3 (2) or 2 (1).
        ///
        /// Each of these strategies misses bugs that another one finds at once. A failure names the strategy that its seed
        /// has drawn. ``pct(depth:steps:)`` is drawn without `steps`, and without the number of steps of earlier runs, so
        /// that the seed alone decides the schedule.
        ///
        /// The method is swarm testing (Groce, Zhang, Eide, Chen, Regehr: *Swarm Testing*, ISSTA 2012).
        public static let swarm = Simulation.Strategy(kind: .swarm)

        /// A strategy that continues schedules in which something new happened: each second seed is drawn as by ``swarm``; each other one repeats an
        /// earlier schedule of the same call up to a random choice, and continues with ``random`` or ``sticky``. Finds bugs that need many steps in the
        /// right order, each of which shows at an actor.
        ///
        /// A *hand-over* counts as new: two tasks that take steps one after another on an actor of one type, after other numbers of steps than in
        /// all earlier schedules. This is the feedback of coverage-guided fuzzing, applied to schedules (Wolff, Shi, Duck, Mathur, Roychoudhury: *Greybox
        /// Fuzzing for Concurrency Testing*, ASPLOS 2024). Without actors, each seed is drawn as by ``swarm``.
        ///
        /// A schedule then depends on those before it: a failure prints its schedule, which replays it alone. If the process crashes, run the same call
        /// again. The last 1,000 schedules with a new hand-over are kept.
        public static let guided = Simulation.Strategy(kind: .guided)

        /// A strategy in which each ready job has the same probability of running next, at every step.
        public static let random = Simulation.Strategy(kind: .random)

        /// A strategy that mostly continues the same task. In seven of eight cases, it chooses as ``inOrder`` does: the
        /// task that ran last continues if it can; otherwise the job that has been ready longest runs. In the remaining
        /// cases, each ready job has the same probability.
        public static let sticky = Simulation.Strategy(kind: .sticky)

        /// A strategy in which each job has a random rank, and the ready job with the highest rank runs. Finds bugs that depend on the order of
        /// several distant steps.
        ///
        /// This is partial order sampling in its basic form (Yuan, Yang, Gu: *Partial Order Aware Concurrency Sampling*, CAV
        /// 2018).
        public static let partialOrder = Simulation.Strategy(kind: .partialOrder)

        /// A strategy without random choices (the plain schedule): the task that ran last continues if it can; otherwise the job that has been
        /// ready longest runs. The seed decides only the numbers of ``Simulation/random``.
        public static let inOrder = Simulation.Strategy(kind: .inOrder)

        /// Returns a strategy that gives each task a random rank and runs the ready task with the highest rank; at `depth - 1` random steps,
        /// the task that would run next drops to the lowest rank.
        ///
        /// Finds bugs that need one task to be delayed for a long time, which ``random`` rarely finds.
        ///
        /// This is probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: *A Randomized Scheduler
        /// with Probabilistic Guarantees of Finding Bugs*, ASPLOS 2010). An *ordering* is a pair of steps, one of which
        /// must run before the other. In a program of *n* tasks and *k* steps, one seed finds a bug that needs `depth`
        /// orderings with a probability of at least 1 ÷ (*n* · *k*^(`depth` − 1)). If *k* is unknown (see `steps`), tasks
        /// drop at step numbers of every order of magnitude with the same probability, and one seed finds the bug with a
        /// probability of at least 1 ÷ (*n* · (15 *k*)^(`depth` − 1)).
        ///
        /// A job that has been ready for more than about 200 steps without running runs next, regardless of its rank.
        /// Therefore a program ends even if one of its tasks repeats a loop until another task has run. Both probabilities
        /// hold as long as no job waits that long.
        ///
        /// - Parameters:
        ///   - depth: The number of orderings that the bug needs, at least 1. Most bugs need 2 or 3.
        ///   - steps: The expected number of steps *k* of a run, at least 1. If it is `nil`, the number of steps of the longest earlier run of
        ///     the same call of `simulate` is used; for the first seed, *k* is unknown. The description of a failure contains the number that
        ///     was used.
        public static func pct(depth: Int, steps: Int? = nil) -> Simulation.Strategy {
            insist(
                depth >= 1,
                "The depth of .pct is the number of orderings that a bug needs: at least 1, not \(depth)."
            )
            insist(
                steps ?? 1 >= 1,
                "The steps of .pct are the expected length of a schedule: at least 1, not \(steps ?? 0)."
            )
            return Simulation.Strategy(kind: .pct(depth: depth, steps: steps))
        }

        /// Returns a strategy that runs, one after another, all schedules with at most `preemptions` preemptions
        /// (interruptions of a task that could continue).
        ///
        /// Suitable for programs with a few tasks and about ten choices. The number of the `seeds` that are passed to
        /// `simulate` is the maximum number of schedules; the random numbers of all schedules are those of the first seed.
        /// The points at which actions of ``Simulation/atAnyPoint(_:)`` run are among the choices: an action that runs only
        /// after virtual time has moved, or after 200 steps, counts as a preemption for each time that it is delayed so. `simulate` returns a
        /// ``Simulation/Report`` that shows whether all schedules have run (``Simulation/Report/exhaustedPreemptions``).
        ///
        /// The limit on preemptions is that of Musuvathi and Qadeer (*Iterative Context Bounding for Systematic Testing of Multithreaded
        /// Programs*, PLDI 2007): most bugs need at most two.
        ///
        /// - Parameter preemptions: The maximum number of preemptions per schedule, zero or more.
        public static func exhaustive(preemptions: Int = 2) -> Simulation.Strategy {
            insist(
                preemptions >= 0,
                "The preemptions of .exhaustive must not be negative: \(preemptions). Give 0 or more."
            )
            return Simulation.Strategy(kind: .exhaustive(preemptions: preemptions))
        }

        /// Returns this strategy with slowness: a timer may fire although jobs are ready, as on a busy machine.
        ///
        /// Finds code that relies on a sleep to guarantee that something else has happened meanwhile. A correct program
        /// that assumes a minimum speed also fails, for example a program that must renew a lease before it expires.
        public func withSlowness() -> Simulation.Strategy {
            var strategy = self
            strategy.hasSlowness = true
            return strategy
        }

        /// Returns this strategy with early starts: a created task may run up to its first suspension before its creator continues, as if on
        /// another thread.
        ///
        /// Finds code that creates a task first and registers it afterwards.
        ///
        /// The new task runs on the stack of its creator, on the same thread. A task that is created under a lock of the C library, such as
        /// `NSLock`, does not start early. If a program creates a task while it holds another lock, such as a `Mutex`, and the task acquires
        /// the same lock, the simulation traps although the program is correct.
        public func withEarlyStarts() -> Simulation.Strategy {
            var strategy = self
            strategy.hasEarlyStarts = true
            return strategy
        }

        /// The strategy as a Swift expression, such as `.pct(depth: 2)`.
        public var description: String {
            let arguments =
                switch kind {
                case .swarm, .guided, .random, .sticky, .partialOrder, .inOrder, .continued: ""
                case .pct(let depth, let steps): "(depth: \(depth)" + (steps.map { ", steps: \($0)" } ?? "") + ")"
                case .exhaustive(let preemptions): "(preemptions: \(preemptions))"
                case .schedule(let schedule): " \(schedule)"
                }
            if case .schedule = kind { return "\(name)\(arguments)" }
            return "\(name)\(arguments)" + (hasSlowness ? ".withSlowness()" : "")
                + (hasEarlyStarts ? ".withEarlyStarts()" : "")
        }

        /// The part of ``description`` before the arguments, such as ".pct". It is a static string because the crash
        /// handler prints it.
        var name: StaticString {
            switch kind {
            case .swarm: ".swarm"
            case .guided, .continued: ".guided"
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

        /// Whether the strategy is `swarm`: each seed draws another strategy.
        // A pattern, since `==` of the kinds is slow in a debug build.
        var isSwarm: Bool { if case .swarm = kind { true } else { false } }

        var isGuided: Bool { if case .guided = kind { true } else { false } }

        /// Returns the strategy of a seed: for ``swarm`` and ``guided``, the strategy that the seed draws; otherwise this strategy.
        func drawn(by seed: UInt64) -> Simulation.Strategy {
            guard isSwarm || isGuided else { return self }
            // The seed is changed, so that this sequence differs from the sequence of the choices.
            var generator = SeededGenerator(seed: seed ^ 0xA5A5_5A5A_C3C3_3C3C)
            // The shares with which the hardest bugs of the corpus of planted bugs take the fewest schedules.
            return switch generator.next() % 16 {
            case 0..<7: with(.random)
            case 7..<9: with(.sticky)
            case 9..<13: with(.partialOrder)
            case 13: with(.pct(depth: 2, steps: nil))
            default: with(.pct(depth: 3, steps: nil))
            }
        }

        /// Returns this strategy with an expected number of steps if it is ``pct(depth:steps:)`` without `steps`; otherwise
        /// returns this strategy unchanged.
        func with(steps: Int) -> Simulation.Strategy {
            guard case .pct(let depth, nil) = kind else { return self }
            return with(.pct(depth: depth, steps: steps))
        }

        /// Whether the seed alone decides the schedule of a run with this strategy. If so, the seed is sufficient to replay
        /// the run in a test whose source names the strategy; otherwise, the replay needs the schedule.
        var dependsOnSeedAlone: Bool {
            switch kind {
            case .schedule, .exhaustive, .guided, .continued, .pct(_, .some): false
            case .swarm, .random, .sticky, .partialOrder, .inOrder, .pct(_, nil): true
            }
        }

        func with(_ kind: Kind) -> Simulation.Strategy {
            var strategy = Simulation.Strategy(kind: kind)
            strategy.hasSlowness = hasSlowness
            strategy.hasEarlyStarts = hasEarlyStarts
            return strategy
        }
    }
}
