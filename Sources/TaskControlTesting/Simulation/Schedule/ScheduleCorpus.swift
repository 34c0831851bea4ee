/// The schedules of a call with ``Simulation/Strategy/guided`` that had a hand-over which no schedule before them had. A value without side effects.
struct ScheduleCorpus {
    private static let mostSchedules = 1_000

    private var handovers: Set<Int> = []
    /// A ring, once it is full.
    private var schedules: [(schedule: Simulation.Schedule, choices: Int)] = []
    /// The place of the next schedule: one after that of the latest.
    private var end = 0

    /// Returns the run of a seed: its own seed and strategy, or those of the continuation of an earlier schedule.
    func run(of seed: UInt64, _ strategy: Simulation.Strategy) -> (seed: UInt64, strategy: Simulation.Strategy) {
        guard seed % 2 == 1, !schedules.isEmpty else { return (seed, strategy.drawn(by: seed)) }
        // The seed is changed, so that this sequence differs from those of the choices and of the swarm.
        var generator = SeededGenerator(seed: seed ^ 0x3C6E_F372_FE94_F82B)
        // Rather a new schedule than an old one: it has come furthest. Each double age has half the probability.
        var ages = 1
        while ages < schedules.count, generator.next() % 2 == 0 { ages = min(2 * ages, schedules.count) }
        let age = 1 + Int(generator.next() % UInt64(ages))
        let (schedule, choices) = schedules[(end - age + schedules.count) % schedules.count]
        let kept = Int(generator.next() % UInt64(choices))
        return (schedule.seed, strategy.with(.continued(schedule, choices: kept, seed: generator.next())))
    }

    /// Notes a run that has passed.
    mutating func ran(_ schedule: Simulation.Schedule, choices: Int, handovers: Set<Int>) {
        guard choices > 0, !handovers.isSubset(of: self.handovers) else { return }
        self.handovers.formUnion(handovers)
        if schedules.count < Self.mostSchedules {
            schedules.append((schedule, choices))
        } else {
            schedules[end % Self.mostSchedules] = (schedule, choices)
        }
        end = end % Self.mostSchedules + 1
    }
}
