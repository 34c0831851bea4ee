import Testing

@testable import TaskControl
@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)))
struct HostBudgetsTests {
    @Test func aHostKeepsItsBudget() {
        let budgets = HostBudgets()
        let first = budgets.budget(of: "a") { _ in RetryBudget() }
        #expect(budgets.budget(of: "a") { _ in RetryBudget() } === first)
        #expect(budgets.budget(of: "b") { _ in RetryBudget() } !== first)
    }

    @Test func whereThereAreManyHostsOnlyBudgetsThatWereDrawnOnStay() {
        let budgets = HostBudgets()
        let drawn = budgets.budget(of: "drawn") { _ in RetryBudget() }
        #expect(drawn.take(isThrottled: false) != nil)
        let full = budgets.budget(of: "full") { _ in RetryBudget() }
        for number in 0..<63 { _ = budgets.budget(of: "\(number)") { _ in RetryBudget() } }
        #expect(budgets.budget(of: "drawn") { _ in RetryBudget() } === drawn)
        #expect(budgets.budget(of: "full") { _ in RetryBudget() } !== full)
    }

    @Test func theyDoNotGrowWhereNoHostRecovers() {
        let budgets = HostBudgets()
        var made: [WeakBudget] = []
        for number in 0..<1_000 {
            let budget = budgets.budget(of: "\(number)") { _ in RetryBudget() }
            _ = budget.take(isThrottled: false)
            made.append(WeakBudget(budget: budget))
        }
        #expect(made.count { $0.budget != nil } == 64)
    }

    private struct WeakBudget {
        weak var budget: RetryBudget?
    }
}
