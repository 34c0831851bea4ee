extension Simulation {
    /// The error that `simulate` throws for a run that failed: the reason, the steps of the schedule, and the code or command that replays it.
    ///
    /// Swift Testing and XCTest show the ``description`` of an error that a test throws.
    public struct Failure: Error, CustomStringConvertible {
        /// The reason for which a run failed.
        @nonexhaustive
        public enum Reason: Sendable, CustomStringConvertible {
            /// The body threw an error.
            case threw(any Error)
            /// An expectation of ``Simulation/expect(_:_:fileID:filePath:line:column:)`` did not hold. The text describes
            /// the expected condition; `location` is the location of the call.
            case expectation(String, location: Simulation.Location)
            /// A deadlock: no task can run, no task sleeps, and the body has not returned.
            case deadlock
            /// A livelock: the run has not ended after `steps` steps. This number is the `maxSteps` of the call of
            /// `simulate`. Possibly the program is in an endless loop: one in which tasks only yield although nothing sleeps, or one of a
            /// timer that fires forever.
            case livelock(steps: Int)
            /// The body has returned, and nothing will ever resume some of the tasks that it started. `tasks` is the number
            /// of these tasks.
            case leftBehind(tasks: Int)
            /// An escape: code outside the simulation took part in the run, so that the seed no longer decides the
            /// schedule. Either the body called a function that gives work to another thread, a queue, a run loop or
            /// another process, or that waits for such work; or another thread resumed a task of the simulation, or used
            /// its ``Simulation``. The text describes what happened, such as the name of the called function.
            case escaped(String)
            /// A task blocks its thread until another task of the simulation has run: it waits for a lock that another task holds over
            /// an await, or that the task itself holds, or for a signal of another task, or polls with a function such as
            /// `Thread.sleep`. The text names the tasks and the function that waits.
            case blocked(String)
            /// The condition of a call of ``Simulation/sometimes(_:_:fileID:filePath:line:column:)`` was never true in any
            /// schedule. The text describes the condition; `location` is the location of the call, and `schedules` the number
            /// of schedules that were run.
            case neverHeld(String, location: Simulation.Location, schedules: Int)
            /// Two runs with the same seed took different steps: the program depends on something that the seed does not decide.
            case nondeterministic

            /// A sentence that describes the failure.
            public var description: String {
                switch self {
                case .threw(let error): "the body threw \(error)"
                case .expectation(let message, let location): "\(location): expected: \(message)"
                case .deadlock: "deadlock: nothing can run, nothing sleeps, and the body has not returned"
                case .livelock(let steps):
                    "no end after \(steps) steps: the program is in an endless loop, which may be one of yields or of timers, "
                        + "or maxSteps is too low for it"
                case .leftBehind(let tasks):
                    "the body has returned, and \(tasks) of its tasks will never end: nothing is left that could resume them. "
                        + "Cancel them, or await them, before the body returns"
                case .escaped(let what):
                    "\(what), outside the simulation: the seed does not decide what happens from then on. "
                        + "Keep code that uses threads of its own out of the body, put a fake in its place, or exempt harmless calls "
                        + "with sim.outside { … }"
                case .blocked(let what):
                    "deadlock: \(what). All tasks of the simulation run on one thread, and those of a process on a few: "
                        + "release a lock before each await, and wait with await, such as in an AsyncSemaphore"
                case .neverHeld(let message, let location, let schedules):
                    "\(location): never true in \(schedules) schedules: \(message). Run more seeds, inject faults that lead there, "
                        + "or remove the call"
                case .nondeterministic:
                    "two runs of this seed took different steps: the program depends on something that the seed does not decide, such as "
                        + "state that outlives the body, an address, a file, or a random number of the processor or of a thread outside. "
                        + "(With TASKCONTROL_HASHING=random, also the order of a Set or Dictionary)"
                }
            }
        }

        /// The result of the search for a shorter schedule that fails for the same reason as the failed run: the shortest
        /// such schedule, and how the run with this schedule failed.
        package struct Shrunk: Sendable, Hashable, Codable {
            /// The shortened schedule: the one with the fewest deviations from the plain schedule (see
            /// ``Simulation/Schedule``) that was found. To replay it, pass it to
            /// ``simulate(schedule:maxSteps:fileID:filePath:line:column:_:)``.
            package let schedule: Simulation.Schedule
            /// The reason of the run with the shortened schedule, and the task that failed. It can name other values than that of the
            /// seed.
            package let reason: String
            /// The steps of the run with the shortened schedule, the first step first. If there are more than 100,000, the
            /// first ones can be missing, but at least the last 100,000 are kept.
            package let steps: [SimulationStep]
            /// The tasks that had not ended when the run with the shortened schedule failed, with their states.
            package let unfinished: [SimulationUnfinishedTask]
            /// The number of runs that the search for the schedule took, including the runs that passed.
            package let runCount: Int
        }

        /// The reason for which the run failed.
        public let reason: Reason
        /// The seed of the run.
        public let seed: UInt64
        /// The strategy of the run. If `simulate` was called with ``Simulation/Strategy/swarm``, this is the strategy that
        /// was drawn for the seed.
        public let strategy: Simulation.Strategy
        /// The seed of the failed run, before its schedule was shortened, the fingerprint (a hash) of its schedule, its number
        /// of steps, and the virtual time that it took.
        public let run: Simulation.Run
        /// The location of the call of `simulate`.
        public let location: Simulation.Location
        /// The schedule of the failed run, before the schedule was shortened.
        public let schedule: Simulation.Schedule
        /// The steps of the failed run, before its schedule was shortened, the first step first. If there are more than
        /// 100,000, the first ones can be missing, but at least the last 100,000 are kept.
        package let steps: [SimulationStep]
        /// The tasks that had not ended when the run failed, with their states.
        package let unfinished: [SimulationUnfinishedTask]
        /// The result of the search for a shorter schedule that fails for the same reason as ``schedule``; `nil` if the
        /// search found none, or if there was no search.
        ///
        /// There is no search in these cases:
        /// - `simulate` was called with the parameter `seed` or `schedule`, not with `seeds`.
        /// - The ``reason`` is ``Reason/escaped(_:)``, ``Reason/nondeterministic``, or
        ///   ``Reason/neverHeld(_:location:schedules:)``.
        /// - The body threw an error of Swift Testing's `#require`.
        /// - The body threw a `CancellationError` because the test was cancelled.
        package internal(set) var shrunk: Shrunk?
        /// The schedule with the fewest deviations from the plain schedule (see ``Simulation/Schedule``) that was found to fail for the same reason. Pass it
        /// to ``simulate(schedule:maxSteps:fileID:filePath:line:column:_:)``. The ``schedule`` of the run if no shorter one was found, or if there was no
        /// search:
        ///
        /// - `simulate` was called with the parameter `seed` or `schedule`, not with `seeds`.
        /// - The ``reason`` is ``Reason/escaped(_:)``, ``Reason/nondeterministic``, or
        ///   ``Reason/neverHeld(_:location:schedules:)``.
        /// - The body threw an error of Swift Testing's `#require`.
        /// - The body threw a `CancellationError` because the test was cancelled.
        public var shortestSchedule: Simulation.Schedule { shrunk?.schedule ?? schedule }
        /// The steps of the ``shortestSchedule``, one line each, the first step first: the virtual time, the task, and its state afterwards. If there are
        /// more than 100,000, the first ones can be missing.
        public var transcript: [String] { (shrunk?.steps ?? steps).map(\.description) }
        /// The test for which a trait has called `simulate`; `nil` if `simulate` was called directly.
        let test = SimulatedTest.current
        /// The number and name of the task whose expectation failed; `nil` for another reason, or if the expectation is no task's.
        package internal(set) var failedTask: String?
        /// The number of schedules that the call has run, with the one that failed.
        package internal(set) var scheduleCount = 0
        /// Whether the simulation has waited, before it ended the run, for a thread outside the simulation that might have
        /// resumed a task.
        var hasLookedOut = false
        /// A text that describes the first step in which two runs of the seed differ. `nil` unless `checksDeterminism` has
        /// found a difference.
        var divergence: String?

        private static let mostUnfinished = 30
        private static let mostSteps = 40
        private static let mostHappenings = 60

        /// A text with the reason, the lines that replay the schedule, the tasks that have not ended, the notes and faults, and
        /// the last steps.
        /// If a shorter schedule was found (``shortestSchedule``), the text shows the tasks and steps of that schedule.
        public var description: String {
            description(isComplete: false)
        }

        /// The description, with all steps instead of the last ones: for a file or an attachment.
        package var completeDescription: String { description(isComplete: true) }

        private func description(isComplete: Bool) -> String {
            if case .neverHeld = reason { return "\(reason)" }
            // The reason and the steps are those of one schedule.
            return "seed \(seed): \(shrunk?.reason ?? reasonAndTask)\nreplay: \(replay)\n"
                + details(isComplete: isComplete, isBelowReason: false)
        }

        /// The reason of the seed's run, and the task that failed.
        package var reasonAndTask: String { "\(reason)" + (failedTask.map { ", by \($0)" } ?? "") }

        /// The part of the description after the reason of the seed's run: a text with the shortest schedule, the tasks that have
        /// not ended, and the last steps.
        package var details: String { details(isComplete: false, isBelowReason: true) }

        /// - Parameter isBelowReason: Whether the text is shown below the reason of the seed's run, and not below that of the
        ///   shortest schedule.
        private func details(isComplete: Bool, isBelowReason: Bool) -> String {
            let (steps, unfinished) = (shrunk?.steps ?? steps, shrunk?.unfinished ?? unfinished)
            var text = ""
            if let shrunk {
                let (few, all) = (shrunk.schedule.deviations.count, schedule.deviations.count)
                text += "shortest: \(replay(shrunk.schedule))\n"
                text += "  (\(few) of \(all) deviations from the plain schedule"
                let simple = shrunk.schedule.simplified.count
                if simple > 0 { text += ", \(simple) random decisions replaced by the simplest" }
                text += ", found in \(shrunk.runCount) runs)\n"
                if shrunk.reason != reasonAndTask {
                    text +=
                        isBelowReason
                        ? "  (it fails with: \(shrunk.reason))\n" : "  (the seed itself: \(reasonAndTask))\n"
                }
            }
            if let divergence { text += divergence }
            if hasLookedOut {
                text +=
                    "a thread outside the simulation may have been woken, and has not resumed anything for a tenth of a second\n"
            }
            if showsUnfinished, !unfinished.isEmpty {
                text += "not ended at \((steps.last?.time ?? run.elapsed).inMilliseconds):\n"
                for task in unfinished.prefix(Self.mostUnfinished) { text += "  \(task)\n" }
                if unfinished.count > Self.mostUnfinished {
                    text += "  and \(unfinished.count - Self.mostUnfinished) more\n"
                }
            }
            // In a short list, the reader sees them among the steps.
            if steps.count > Self.mostSteps { text += Self.happenings(steps) }
            let mostSteps = isComplete ? Int.max : Self.mostSteps
            let count = steps.count == 1 ? "the only step" : "the \(steps.count) steps"
            text += steps.count > mostSteps ? "the last \(mostSteps) of \(steps.count) steps" : count
            text += " (virtual time, the task that ran, its state afterwards):\n"
            return text + steps.suffix(mostSteps).map { "  \($0)" }.joined(separator: "\n")
        }

        /// Returns the lines of the notes, such as the faults of a network, and of the actions at any point: what happened, before
        /// the steps that show how. Empty if there are none.
        private static func happenings(_ steps: [SimulationStep]) -> String {
            let happenings = steps.filter { step in
                switch step.event {
                case .note, .action: true
                case .ran, .actorTurn, .blocked: false
                }
            }
            if happenings.isEmpty { return "" }
            var lines = happenings.map { "  \($0)" }
            let excess = lines.count - mostHappenings
            if excess > 0 {
                let middle = mostHappenings / 2
                lines.replaceSubrange(middle..<middle + excess, with: ["  … \(excess) more …"])
            }
            return "what happened:\n" + lines.joined(separator: "\n") + "\n"
        }

        /// The Swift code, or the shell command, that replays the schedule.
        package var replay: String {
            if let test, strategy.dependsOnSeedAlone { return test.replay(seed) }
            if case .schedule = strategy.kind { return replay(schedule) }
            if test != nil { return replay(schedule) }
            return "try simulate(seed: \(seed), strategy: \(strategy)) { … }    in place of the call at \(location)"
        }

        private func replay(_ schedule: Simulation.Schedule) -> String {
            test?.replay(schedule)
                ?? "try simulate(schedule: \"\(schedule)\") { … }    in place of the call at \(location)"
        }

        private var showsUnfinished: Bool {
            switch reason {
            case .threw, .expectation, .nondeterministic, .neverHeld: false
            case .deadlock, .leftBehind, .livelock, .escaped, .blocked: true
            }
        }
    }
}

extension Simulation {
    /// The error that `simulate` throws if the platform, or the version of the Swift runtime, does not support simulations.
    public struct UnsupportedError: Error, Hashable, CustomStringConvertible {
        /// The capabilities that the process lacks.
        package let missing: SimulationCapabilities

        /// Creates the error. Intended for tests that check `Simulation.capabilities` themselves.
        ///
        /// - Parameter missing: The capabilities that the process lacks; by default, all that are not in
        ///   `Simulation.capabilities`.
        package init(missing: SimulationCapabilities = .all.subtracting(Simulation.capabilities)) {
            self.missing = missing
        }

        /// A text that lists the missing capabilities, what the simulation requires, and how to skip a test where it is not
        /// supported.
        public var description: String {
            "The simulation does not work in this process, which lacks \(missing). \(SimulationSupport.requirement) "
                + "Skip the test with Simulation.isSupported: @Test(.enabled(if: Simulation.isSupported)), or XCTSkipUnless."
        }
    }
}
