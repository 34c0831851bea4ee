/// A search for a simpler schedule that still fails: removes the deviations from the plain schedule (see
/// ``Simulation/Schedule``) that the failure does not need, replaces random decisions such as faults and inputs by the
/// simplest ones, and then tries the deviations again. A value without side effects: the caller runs the schedules.
///
/// The method is delta debugging (Zeller, Hildebrandt: *Simplifying and Isolating Failure-Inducing Input*, IEEE
/// Transactions on Software Engineering 28, 2002): it removes blocks of deviations, first large blocks, then smaller
/// ones, and at last single deviations.
struct ScheduleShrinker {
    private enum Part {
        case deviations, decisions, remainingDeviations
    }

    /// The simplest schedule found so far that fails.
    private(set) var best: Simulation.Schedule
    /// The number of random decisions of the run with that schedule.
    private var decisionCount: Int
    private var part = Part.deviations
    private var hasSimplified = false
    private var blockSize: Int
    private var start = 0

    init(_ schedule: Simulation.Schedule, decisionCount: Int = 0) {
        best = schedule
        self.decisionCount = decisionCount
        // The first block contains all deviations: many failures need none.
        blockSize = max(schedule.deviations.count, 1)
    }

    /// Returns the next schedule to try; `nil` if nothing of ``best`` can be simplified. The caller must run the schedule,
    /// and then call ``fails(as:decisionCount:)`` or ``passes()``.
    mutating func next() -> Simulation.Schedule? {
        while start >= count {
            if blockSize > 1, count > 0 {
                blockSize = (blockSize + 1) / 2
            } else if !beginNextPart() {
                return nil
            }
            start = 0
        }
        let block = start..<min(start + blockSize, count)
        guard part == .decisions else {
            var deviations = best.deviations
            deviations.removeSubrange(block)
            return best.with(deviations)
        }
        return best.simplifying(decisions[block])
    }

    /// The random decisions that are not the simplest ones yet.
    private var decisions: [Int] {
        let simplified = Set(best.simplified)
        return (0..<decisionCount).filter { !simplified.contains($0) }
    }

    /// The number of deviations or decisions that the current part can simplify.
    private var count: Int { part == .decisions ? decisions.count : best.deviations.count }

    private mutating func beginNextPart() -> Bool {
        switch part {
        case .deviations: part = .decisions
        case .decisions where hasSimplified: part = .remainingDeviations
        case .decisions, .remainingDeviations: return false
        }
        blockSize = max(count, 1)
        return true
    }

    /// Notes that the schedule that ``next()`` has returned last fails for the same reason as the original schedule.
    ///
    /// - Parameters:
    ///   - recorded: The schedule with the deviations that the run has used: at most those of the schedule that was run,
    ///     and often fewer.
    ///   - decisionCount: The number of random decisions of the run.
    mutating func fails(as recorded: Simulation.Schedule, decisionCount: Int = 0) {
        best = recorded
        self.decisionCount = decisionCount
        if part == .decisions { hasSimplified = true }
    }

    /// Notes that the schedule that ``next()`` has returned last passes, or fails for another reason than the original
    /// schedule.
    mutating func passes() {
        start += blockSize
    }
}

/// An enumeration of all schedules of a program up to a number of preemptions, depth first. A value without side
/// effects: the caller runs the schedules.
///
/// A schedule is described by its answers: the ways in which it continues wherever several are possible (see
/// ``ScheduleChooser``).
struct ScheduleSearch {
    let preemptions: Int
    /// The first answers of the next schedule to run. All later answers are 0.
    private(set) var prefix: [UInt32] = []

    init(preemptions: Int) {
        self.preemptions = preemptions
    }

    /// Moves to the next schedule: increases the last answer that can be increased without exceeding ``preemptions``,
    /// the maximum number of preemptions, and drops the answers after it.
    ///
    /// - Parameter answers: All answers of the schedule that has run.
    /// - Returns: Whether there is another schedule. If so, ``prefix`` contains its first answers.
    mutating func advance(past answers: [ScheduleChooser.Answer]) -> Bool {
        var spent = answers.reduce(0) { $0 + $1.cost(of: $1.answer) }
        for index in answers.indices.reversed() {
            let answer = answers[index]
            spent -= answer.cost(of: answer.answer)
            var next = answer.answer + 1
            while next < answer.width, spent + answer.cost(of: next) > preemptions { next += 1 }
            if next >= answer.width { continue }
            prefix = answers[..<index].map(\.answer) + [next]
            return true
        }
        return false
    }

    /// Returns whether the answers of a run begin with those of ``prefix``. If not, the program depends on something
    /// other than the schedule.
    func isFollowed(by answers: [ScheduleChooser.Answer]) -> Bool {
        answers.count >= prefix.count && zip(prefix, answers).allSatisfy { $0 == $1.answer }
    }
}
