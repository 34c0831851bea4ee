/// A rule: one kind of mistake with tasks.
public struct Rule: Sendable, Hashable {
    /// The number of the rule, from 1 to 10.
    public let number: Int
    /// The name of the rule, as in `// audit: allow NAME because …`.
    public let name: String
    /// The mistake that the rule finds.
    public let title: String

    /// All rules, by number.
    public static let all: [Rule] = [
        droppedTask, uncancelledTask, taskPerEvent, continuation, checkThenAwait, sharedTask, retryLoop, blockedWait,
        taskOrder, shownCancellation,
    ]

    static let droppedTask = Rule(number: 1, name: "dropped-task", title: "A dropped task retains its owner")
    static let uncancelledTask = Rule(
        number: 2,
        name: "uncancelled-task",
        title: "A task is discarded, replaced, or never cancelled"
    )
    static let taskPerEvent = Rule(number: 3, name: "task-per-event", title: "An old result overwrites a newer one")
    static let continuation = Rule(
        number: 4,
        name: "continuation",
        title: "A continuation ignores cancellation, or is not resumed once"
    )
    static let checkThenAwait = Rule(number: 5, name: "check-then-await", title: "A check is outdated after an await")
    static let sharedTask = Rule(
        number: 6,
        name: "shared-task",
        title: "A shared task keeps a failure, or ends with one caller"
    )
    static let retryLoop = Rule(
        number: 7,
        name: "retry-loop",
        title: "A loop retries without delay, without end, or through a cancellation"
    )
    static let blockedWait = Rule(
        number: 8,
        name: "blocked-wait",
        title: "A wait that is too long, blocks a thread, or depends on time"
    )
    static let taskOrder = Rule(
        number: 9,
        name: "task-order",
        title: "Tasks run in another order than they were created"
    )
    static let shownCancellation = Rule(
        number: 10,
        name: "shown-cancellation",
        title: "A cancellation is shown as an error"
    )

    /// Finds a rule by its number or its name.
    public static func named(_ text: String) -> Rule? {
        all.first { $0.name == text.lowercased() || String($0.number) == text }
    }

    /// The rule's page, in Markdown.
    public var page: String { Pages.text(of: self) }
}
