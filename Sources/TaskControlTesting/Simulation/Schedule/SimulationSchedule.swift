extension Simulation {
    /// The schedule of one run of a simulation: the choices that decided the order in which jobs ran. With it, the run can
    /// be replayed exactly. A *job* is the part of a task between two suspension points.
    ///
    /// ```swift
    /// try simulate(schedule: "7:12=1,40=3") { sim in sim.expect(sim.now == .zero) }
    /// ```
    ///
    /// A schedule is described by its differences from the *plain schedule*. In the plain schedule, the task that ran last
    /// continues if it can; otherwise the job that has been ready longest runs; a timer fires only when no job is ready, and
    /// after the actions of ``Simulation/atAnyPoint(_:)``.
    /// A failure with few differences is easier to understand. For this reason, ``simulate(seeds:strategy:maxSteps:checksDeterminism:fileID:filePath:line:column:_:)`` removes the
    /// differences that a failure does not need.
    ///
    /// A schedule is valid for one version of a program: a change of the code under test may change the meaning of each choice.
    public struct Schedule: Sendable, Hashable, Codable, LosslessStringConvertible, ExpressibleByStringLiteral {
        /// A choice that differs from the plain schedule (defined at ``Simulation/Schedule``): a question, which is a point
        /// at which the schedule can continue in several ways, and its answer, which is the way in which it continues.
        package struct Deviation: Sendable, Hashable, Codable {
            /// The number of the question (a point at which the schedule can continue in several ways), from 0, in the order in which questions
            /// arise.
            ///
            /// A question arises wherever several jobs are ready, and wherever an action of ``Simulation/atAnyPoint(_:)``
            /// may run. Further questions are whether a timer fires now, if the strategy has slowness
            /// (``Simulation/Strategy/withSlowness()``), and whether a created task starts now, if it has early starts
            /// (``Simulation/Strategy/withEarlyStarts()``).
            package let question: Int
            /// The number of the answer, at least 1. Answer 0 is always that of the plain schedule (defined at
            /// ``Simulation/Schedule``), and is no deviation.
            ///
            /// The answers are numbered as follows, depending on the question:
            /// - Which job runs next: 0 is the job of the plain schedule. The other jobs follow, from 1, in the order in
            ///   which they became ready.
            /// - Which action of ``Simulation/atAnyPoint(_:)`` runs now: 0 means none, and the actions follow, from 1, in
            ///   the order of the calls. If no job is ready, or the first action has waited for more than 200 steps, 0 is the
            ///   first action, the others follow from 1, and the last answer means none, unless an action must run because
            ///   no task sleeps.
            /// - All other questions: 0 means no, and 1 means yes.
            package let answer: Int

            /// Creates a deviation.
            ///
            /// - Parameters:
            ///   - question: The number of the question (a point at which the schedule can continue in several ways), from 0.
            ///   - answer: The number of the answer (one of the ways in which the schedule can continue), from 1. See
            ///     ``answer``.
            package init(question: Int, answer: Int) {
                self.question = question
                self.answer = answer
            }
        }

        /// The seed of the numbers of ``Simulation/random``.
        public let seed: UInt64
        /// The choices that differ from the plain schedule (the standard order of jobs, defined at ``Simulation/Schedule``),
        /// sorted by ``Deviation/question``.
        package let deviations: [Deviation]
        /// Whether timers may fire although jobs are ready: see ``Simulation/Strategy/withSlowness()``.
        package let hasSlowness: Bool
        /// Whether created tasks may start before their creator continues: see ``Simulation/Strategy/withEarlyStarts()``.
        package let hasEarlyStarts: Bool
        /// The random decisions that have their simplest outcome instead of that of the seed, by their numbers in the order in
        /// which they arise, sorted: a number of ``Simulation/random`` is 1, and a fault that a ``SimulatedNetwork`` has drawn
        /// does not happen.
        package let simplified: [Int]

        /// Creates a schedule.
        ///
        /// - Parameters:
        ///   - seed: The seed of the numbers of ``Simulation/random``.
        ///   - deviations: The choices that differ from the plain schedule (defined at ``Simulation/Schedule``), in any
        ///     order. If several have the same ``Deviation/question``, only the last of them is used. Deviations with a
        ///     negative question, or with a ``Deviation/answer`` below 1, are then removed.
        ///   - hasSlowness: Whether timers may fire although jobs are ready: see ``Simulation/Strategy/withSlowness()``.
        ///   - hasEarlyStarts: Whether created tasks may start before their creator continues: see
        ///     ``Simulation/Strategy/withEarlyStarts()``.
        ///   - simplified: The numbers of the random decisions that have their simplest outcome, in any order: see
        ///     ``simplified``. Negative numbers are removed.
        package init(
            seed: UInt64,
            deviations: [Deviation] = [],
            hasSlowness: Bool = false,
            hasEarlyStarts: Bool = false,
            simplified: [Int] = []
        ) {
            self.seed = seed
            self.simplified = Set(simplified).filter { $0 >= 0 }.sorted()
            var answers: [Int: Int] = [:]
            for deviation in deviations where deviation.question >= 0 { answers[deviation.question] = deviation.answer }
            self.deviations =
                answers.filter { $0.value > 0 }
                .map { Deviation(question: $0.key, answer: $0.value) }
                .sorted { $0.question < $1.question }
            self.hasSlowness = hasSlowness
            self.hasEarlyStarts = hasEarlyStarts
        }

        init(seed: UInt64, answers: some Sequence<ScheduleChooser.Answer>, _ strategy: Simulation.Strategy) {
            self.init(
                seed: seed,
                deviations: answers.enumerated().compactMap { question, answer in
                    answer.answer == 0 ? nil : Deviation(question: question, answer: Int(answer.answer))
                },
                hasSlowness: strategy.hasSlowness,
                hasEarlyStarts: strategy.hasEarlyStarts,
                simplified: strategy.schedule?.simplified ?? []
            )
        }

        func with(_ deviations: [Deviation]) -> Simulation.Schedule {
            Simulation.Schedule(
                seed: seed,
                deviations: deviations,
                hasSlowness: hasSlowness,
                hasEarlyStarts: hasEarlyStarts,
                simplified: simplified
            )
        }

        func simplifying(_ decisions: some Sequence<Int>) -> Simulation.Schedule {
            Simulation.Schedule(
                seed: seed,
                deviations: deviations,
                hasSlowness: hasSlowness,
                hasEarlyStarts: hasEarlyStarts,
                simplified: simplified + decisions
            )
        }

        // MARK: Text

        /// The schedule as a text, such as `7s:12=1,40=3` or `7s:12=1;0-2,5`: the seed, `s` if `hasSlowness`, `e` if
        /// `hasEarlyStarts`, a colon, the deviations in the form `question=answer`, and, after a semicolon, the numbers of
        /// the `simplified` decisions.
        public var description: String {
            let marks = (hasSlowness ? "s" : "") + (hasEarlyStarts ? "e" : "")
            let deviations = deviations.map { "\($0.question)=\($0.answer)" }
            let text = "\(seed)\(marks):" + deviations.joined(separator: ",")
            return simplified.isEmpty ? text : text + ";" + Self.text(ofNumbers: simplified)
        }

        /// Returns a text such as `0-2,5` for sorted numbers.
        private static func text(ofNumbers numbers: [Int]) -> String {
            var ranges: [ClosedRange<Int>] = []
            for number in numbers {
                if let last = ranges.last, last.upperBound == number - 1 {
                    ranges[ranges.count - 1] = last.lowerBound...number
                } else {
                    ranges.append(number...number)
                }
            }
            return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
                .joined(separator: ",")
        }

        /// The number of random decisions that a text can name: more would take too much memory.
        private static let mostSimplified = 1_000_000

        private static func numbers(_ text: Substring) -> [Int]? {
            var numbers: [Int] = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
                guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1], first >= 0, last >= first,
                    last < mostSimplified
                else {
                    return nil
                }
                numbers += first...last
            }
            return numbers
        }

        /// Creates a schedule from its ``description``; `nil` if the text is not valid.
        public init?(_ description: String) {
            let halves = description.split(separator: ";", omittingEmptySubsequences: false)
            guard halves.count <= 2, let simplified = halves.count == 2 ? Self.numbers(halves[1]) : [] else {
                return nil
            }
            let parts = halves[0].split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            let digits = parts[0].prefix { $0.isNumber }
            let marks = parts[0].dropFirst(digits.count)
            guard let seed = UInt64(digits), ["", "s", "e", "se"].contains(marks) else { return nil }
            var deviations: [Deviation] = []
            for text in parts[1].split(separator: ",") {
                let numbers = text.split(separator: "=", omittingEmptySubsequences: false).map { Int($0) }
                guard numbers.count == 2, let question = numbers[0], let answer = numbers[1], question >= 0, answer >= 0
                else {
                    return nil
                }
                deviations.append(Deviation(question: question, answer: answer))
            }
            self.init(
                seed: seed,
                deviations: deviations,
                hasSlowness: marks.contains("s"),
                hasEarlyStarts: marks.contains("e"),
                simplified: simplified
            )
        }

        /// Decodes a schedule from its ``description``.
        ///
        /// - Throws: `DecodingError` if the text is not a schedule.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let schedule = Simulation.Schedule(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "\"\(text)\" is not a schedule")
            }
            self = schedule
        }

        /// Encodes the schedule as its ``description``.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }

        /// Creates a schedule from a literal of its ``description``. The description of a ``Simulation/Failure`` contains
        /// this text. Traps if the literal is not valid.
        public init(stringLiteral value: String) {
            guard let schedule = Simulation.Schedule(value) else {
                preconditionFailure(
                    "\"\(value)\" is not a schedule. Copy the text from the failure: a seed, a colon, and deviations such as 12=1,40=3."
                )
            }
            self = schedule
        }
    }
}
