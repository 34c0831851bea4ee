/// Shortens a failing schedule: removes the deviations from the plain schedule that the failure does not need. A value without effects.
///
/// Delta debugging (Zeller, Hildebrandt: *Simplifying and Isolating Failure-Inducing Input*, IEEE Transactions on Software
/// Engineering 28, 2002): removes blocks of deviations, first large blocks, then smaller ones, and at last single deviations.
struct ScheduleShrinker {
    /// The shortest schedule found so far that fails.
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

    /// Notes that the schedule returned last fails for the same reason as the original one.
    ///
    /// - Parameter recorded: The schedule with the deviations that the run has used: never more than were given, and often fewer.
    mutating func fails(as recorded: SimulationSchedule) {
        best = recorded
    }

    /// Notes that the schedule returned last passes, or fails for another reason.
    mutating func passes() {
        start += blockSize
    }
}
