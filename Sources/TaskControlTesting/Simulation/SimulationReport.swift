extension Simulation {
    /// The result of one run of a simulation.
    public struct Run: Hashable, Sendable, Codable {
        /// The seed of the run.
        public let seed: UInt64
        /// A hash of the schedule, that is, of the order in which the jobs ran. Two runs with the same schedule have the
        /// same hash; runs with different schedules almost certainly have different hashes.
        public let fingerprint: UInt64
        /// The number of steps, that is, of jobs that ran. A task takes one step up to its first suspension, and one more
        /// after each suspension.
        public let stepCount: Int
        /// The virtual time that passed during the run.
        public let elapsed: Duration
    }
}

extension Simulation {
    /// The result of a call of `simulate` in which no run failed.
    public struct Report: Hashable, Sendable, CustomStringConvertible {
        /// The number of schedules that were run.
        public internal(set) var scheduleCount = 0
        /// The number of different schedules among those that were run. If this number is much smaller than
        /// ``scheduleCount``, further seeds would find few new schedules.
        public internal(set) var distinctScheduleCount = 0
        /// The number of the last schedules, a tenth of all, of which ``recentNewScheduleCount`` counts the new ones.
        public internal(set) var recentScheduleCount = 0
        /// The number of the last ``recentScheduleCount`` schedules that no earlier seed had. If it is zero, further seeds
        /// would probably find nothing new; if it is close to ``recentScheduleCount``, most orders were not tried yet.
        public internal(set) var recentNewScheduleCount = 0
        /// The number of steps of the longest schedule.
        public internal(set) var mostSteps = 0
        /// The `preemptions` of the strategy ``Simulation/Strategy/exhaustive(preemptions:)``, if every schedule with at
        /// most that many preemptions (interruptions of a task that could continue) was run. `nil` for any other strategy,
        /// or if there are more such schedules than seeds.
        public internal(set) var exhaustedPreemptions: Int?
        /// Whether a search of ``Simulation/Strategy/exhaustive(preemptions:)`` has ended before all of its schedules were run.
        var isCutOff = false

        /// The report in one line, such as "1000 schedules pass, 37 of them distinct, and 2 of the last 100 were new", or "all 92
        /// schedules with at most 2 preemptions pass".
        public var description: String {
            if let exhaustedPreemptions {
                return "all \(scheduleCount) schedules with at most \(exhaustedPreemptions) preemptions pass"
            }
            let text = "\(scheduleCount) schedules pass, \(distinctScheduleCount) of them distinct"
            if isCutOff { return text + ", and more remain" }
            guard recentScheduleCount > 1 else { return text }
            let wording = recentNewScheduleCount == 1 ? "was" : "were"
            return text + ", and \(recentNewScheduleCount) of the last \(recentScheduleCount) \(wording) new"
        }
    }
}
