/// Removes the deviations from a failing schedule that the failure does not need. Pure.
///
/// Delta debugging (Zeller, Hildebrandt: *Simplifying and Isolating Failure-Inducing Input*, IEEE Transactions on Software
/// Engineering 28, 2002): removes blocks of deviations, first large blocks, then smaller ones, and at last single deviations.
struct ScheduleShrinker {
    /// The shortest schedule that fails.
    private(set) var best: SimulationSchedule
    private var blockSize: Int
    private var start = 0

    init(_ schedule: SimulationSchedule) {
        best = schedule
        // Removes all of them first: many failures need none.
        blockSize = max(schedule.deviations.count, 1)
    }

    /// Returns the next schedule to try; `nil` if no deviation can be removed.
    mutating func next() -> SimulationSchedule? {
        while start >= best.deviations.count {
            if blockSize == 1 || best.deviations.isEmpty { return nil }
            blockSize = (blockSize + 1) / 2
            start = 0
        }
        var deviations = best.deviations
        deviations.removeSubrange(start..<min(start + blockSize, deviations.count))
        return best.with(deviations)
    }

    /// Records that the last schedule fails for the same reason.
    ///
    /// - Parameter recorded: The deviations that its run has used: never more, and often fewer.
    mutating func fails(as recorded: SimulationSchedule) {
        best = recorded
    }

    /// Records that the last schedule passes, or fails for another reason.
    mutating func passes() {
        start += blockSize
    }
}
