/// A search for a shorter schedule that still fails: removes the deviations from the plain schedule (see
/// ``SimulationSchedule``) that the failure does not need. A value without side effects: the caller runs the schedules.
///
/// The method is delta debugging (Zeller, Hildebrandt: *Simplifying and Isolating Failure-Inducing Input*, IEEE
/// Transactions on Software Engineering 28, 2002): it removes blocks of deviations, first large blocks, then smaller
/// ones, and at last single deviations.
struct ScheduleShrinker {
    /// The shortest schedule found so far that fails.
    private(set) var best: SimulationSchedule
    private var blockSize: Int
    private var start = 0

    init(_ schedule: SimulationSchedule) {
        best = schedule
        // The first block contains all deviations: many failures need none.
        blockSize = max(schedule.deviations.count, 1)
    }

    /// Returns the next schedule to try; `nil` if no deviation of ``best`` can be removed. The caller must run the
    /// schedule, and then call ``fails(as:)`` or ``passes()``.
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

    /// Notes that the schedule that ``next()`` has returned last fails for the same reason as the original schedule.
    ///
    /// - Parameter recorded: The schedule with the deviations that the run has used: at most those of the schedule that
    ///   was run, and often fewer.
    mutating func fails(as recorded: SimulationSchedule) {
        best = recorded
    }

    /// Notes that the schedule that ``next()`` has returned last passes, or fails for another reason than the original
    /// schedule.
    mutating func passes() {
        start += blockSize
    }
}
