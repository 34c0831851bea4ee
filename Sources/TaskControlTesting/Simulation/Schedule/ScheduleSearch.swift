/// Walks through all schedules of a program, depth first, with a bound on preemptions. Pure.
struct ScheduleSearch {
    let preemptions: Int
    /// The answers that come next; after them, 0.
    private(set) var prefix: [UInt32] = []

    init(preemptions: Int) {
        self.preemptions = preemptions
    }

    /// Moves to the next schedule: changes the last answer that has a successor within the bound, and drops the answers after it.
    ///
    /// - Parameter answers: All answers of the schedule that has run.
    /// - Returns: Whether there is another schedule.
    mutating func advance(past answers: [ScheduleChooser.Answer]) -> Bool {
        var spent = answers.count { $0.isPreemption && $0.answer > 0 }
        for index in answers.indices.reversed() {
            let answer = answers[index]
            if answer.isPreemption, answer.answer > 0 { spent -= 1 }
            let isLast = answer.answer + 1 >= answer.width
            if isLast || (answer.isPreemption && spent + 1 > preemptions) { continue }
            prefix = answers[..<index].map(\.answer) + [answer.answer + 1]
            return true
        }
        return false
    }

    /// Whether a run has followed the prefix. Otherwise the program depends on something other than the schedule.
    func isFollowed(by answers: [ScheduleChooser.Answer]) -> Bool {
        answers.count >= prefix.count && zip(prefix, answers).allSatisfy { $0 == $1.answer }
    }
}
