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
