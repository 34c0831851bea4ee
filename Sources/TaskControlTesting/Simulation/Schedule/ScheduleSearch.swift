/// Enumerates all schedules of a program up to a number of preemptions, depth first. A value without effects.
struct ScheduleSearch {
    let preemptions: Int
    /// The first answers of the next schedule. All later answers are 0.
    private(set) var prefix: [UInt32] = []

    init(preemptions: Int) {
        self.preemptions = preemptions
    }

    /// Moves to the next schedule: increases the last answer that can be increased within the bound, and drops the answers after it.
    ///
    /// - Parameter answers: All answers of the schedule that has run.
    /// - Returns: Whether there is another schedule.
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

    /// Returns whether a run has used the answers of ``prefix``. If not, the program depends on something other than the schedule.
    func isFollowed(by answers: [ScheduleChooser.Answer]) -> Bool {
        answers.count >= prefix.count && zip(prefix, answers).allSatisfy { $0 == $1.answer }
    }
}
