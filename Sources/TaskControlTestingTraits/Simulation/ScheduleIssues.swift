internal import TaskControl
internal import TaskControlTesting
internal import Testing

/// Collects the issues that Swift Testing reports for a test with the trait `.simulated`, which runs under many schedules, and records at most one
/// failure.
///
/// While schedules run, an issue that fails the test is not recorded at once: it ends its schedule, as a failed `Simulation.expect` does. `simulate`
/// treats it as a failure of the schedule, and may run further schedules before it reports the failure, for example to shorten it. Finally, the issue
/// of the last schedule that had one is recorded.
final class ScheduleIssues: Sendable {
    private struct State {
        /// The simulation that runs now; `nil` before the first and after the last.
        var simulation: Simulation?
        var hasIssue = false
        /// The issue of the last schedule that had an issue which fails the test; `nil` if no schedule had one.
        var held: Issue?
        /// The descriptions of the known issues and warnings that were recorded. An issue whose description is in this
        /// set is not recorded again.
        var recorded: Set<String> = []
    }

    private let state = Locked(State())

    init() {}

    /// The issue to record when the simulation has ended: that of the last schedule with an issue that fails the test;
    /// `nil` if no schedule had one.
    var held: Issue? { state.withLock { $0.held } }

    /// Whether an issue that fails the test has been reported since the last call of ``begin(_:)``.
    var hasIssue: Bool { state.withLock { $0.hasIssue } }

    /// Notes that the given simulation begins to run a schedule. Issues that are reported from now on belong to this
    /// schedule.
    func begin(_ simulation: Simulation) {
        state.withLock { state in
            state.simulation = simulation
            state.hasIssue = false
        }
    }

    /// Calls a function that runs schedules, and handles the issues that are reported meanwhile.
    ///
    /// The first issue of a schedule that fails the test ends the schedule. It is kept as ``held``, where it replaces
    /// the issue of an earlier schedule, and is not recorded: the caller must then call ``record(_:_:_:)``. Further
    /// issues of the same schedule that fail the test are dropped. A known issue or a warning is recorded at once,
    /// unless one with the same description was recorded before.
    ///
    /// - Parameters:
    ///   - test: The test that `body` runs.
    ///   - testCase: The case of the test that `body` runs; `nil` if `body` runs the test as a whole.
    ///   - body: The function that runs schedules.
    /// - Throws: The error of `body`.
    func hold(_ test: Test, _ testCase: Test.Case?, _ body: @Sendable () async throws -> Void) async throws {
        defer { state.withLock { $0.simulation = nil } }
        let handler = IssueHandlingTrait.compactMapIssues { [self] in receive($0) }
        try await handler.provideScope(for: test, testCase: testCase, performing: body)
    }

    private enum Verdict {
        case record
        case drop
        case end(Simulation)
    }

    /// Handles an issue that Swift Testing reports.
    ///
    /// - Returns: The issue to record now; `nil` if it must not be recorded, or not yet.
    private func receive(_ issue: Issue) -> Issue? {
        let verdict = state.withLock { state -> Verdict in
            guard let simulation = state.simulation else { return .record }
            guard issue.isFailure else {
                return state.recorded.insert(issue.debugDescription).inserted ? .record : .drop
            }
            guard !state.hasIssue else { return .drop }
            state.hasIssue = true
            state.held = issue
            return .end(simulation)
        }
        switch verdict {
        case .record: return issue
        case .drop: return nil
        case .end(let simulation):
            let place = issue.sourceLocation
            simulation.expect(
                false,
                issue.expectation,
                fileID: place?.fileID ?? "",
                filePath: place?.filePath ?? "",
                line: place?.line ?? 0,
                column: place?.column ?? 0
            )
            return nil
        }
    }
}

extension ScheduleIssues {
    /// Records the failure of the simulation as a single issue, with the kind, the location and the comments of the
    /// ``held`` issue if there is one. Attaches the description of the failure, which contains the schedule.
    ///
    /// - Parameters:
    ///   - failure: The failure of the simulation.
    ///   - test: The test that the simulation has run.
    ///   - testCase: The case of the test; `nil` if the simulation has run the test as a whole.
    func record(_ failure: Simulation.Failure, _ test: Test, _ testCase: Test.Case?) async throws {
        // No single schedule shows that a condition is never met.
        let isOfOneSchedule = if case .neverHeld = failure.reason { false } else { true }
        let comment = Comment(rawValue: "seed \(failure.seed)\nreplay: \(failure.replay)\n\(failure.details)")
        let held = held
        // Swift Testing has no function that records an issue of a given kind. So the handler sets the kind of the
        // issue that is recorded here.
        let handler = IssueHandlingTrait.compactMapIssues { issue in
            var issue = issue
            if let held {
                (issue.kind, issue.severity, issue.sourceLocation) = (held.kind, held.severity, held.sourceLocation)
                issue.comments = held.comments
                // Something other than the issue ended the schedule, for example because another thread recorded the
                // issue.
                if case .expectation = failure.reason {} else { issue.comments.append("\(failure.reason)") }
            }
            if isOfOneSchedule { issue.comments.append(comment) }
            return issue
        }
        try await handler.provideScope(for: test, testCase: testCase) {
            switch failure.reason {
            case .threw(let error): Issue.record(error, sourceLocation: test.sourceLocation)
            case .expectation(let message, let location):
                Issue.record("\(message)", sourceLocation: SourceLocation(location))
            default: Issue.record("\(failure.reason)", sourceLocation: test.sourceLocation)
            }
        }
        Attachment.record(failure.completeDescription, named: failure.fileName, sourceLocation: test.sourceLocation)
    }
}

extension Issue {
    /// The text of the expectation that has failed. For another issue, its description after the words "no issue.".
    fileprivate var expectation: String {
        let prefix = "Expectation failed: "
        return description.hasPrefix(prefix) ? String(description.dropFirst(prefix.count)) : "no issue. \(description)"
    }
}

extension SourceLocation {
    /// Creates the source location of an issue. Swift Testing requires positive numbers: a line or column of 0, which
    /// means unknown, becomes 1.
    fileprivate init(_ location: Simulation.Location) {
        self.init(
            fileID: location.fileID,
            filePath: location.filePath,
            line: max(1, location.line),
            column: max(1, location.column)
        )
    }
}
