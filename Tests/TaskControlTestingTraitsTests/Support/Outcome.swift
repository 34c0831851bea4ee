import TaskControl
import Testing

/// The outcome of a test that has a trait.
struct Outcome {
    /// The issues that would be recorded, known issues and warnings included.
    var issues: [Issue] = []
    /// The error that the trait throws, which Swift Testing would record as one more issue.
    var error: (any Error)?

    /// Runs a function as Swift Testing runs the function of a test that has the trait, and records nothing.
    init(of trait: some TestScoping, _ function: @concurrent @Sendable () async throws -> Void) async throws {
        let (test, testCase) = (try #require(Test.current), Test.Case.current)
        let issues = Locked<[Issue]>([])
        let collector = IssueHandlingTrait.compactMapIssues { issue in
            issues.withLock { $0.append(issue) }
            return nil
        }
        let error = Locked<(any Error)?>(nil)
        try await collector.provideScope(for: test, testCase: testCase) {
            do {
                try await trait.provideScope(for: test, testCase: testCase, performing: function)
            } catch let thrown {
                error.withLock { $0 = thrown }
            }
        }
        self.issues = issues.withLock { $0 }
        self.error = error.withLock { $0 }
    }

    /// The only issue.
    var issue: Issue {
        get throws {
            #expect(error == nil)
            #expect(issues.count == 1)
            return try #require(issues.first)
        }
    }
}

extension Issue {
    /// All of its comments.
    var text: String { comments.map(\.rawValue).joined(separator: "\n") }
}
