/// The limit on the retries of a client: a `RetryBudget` per host, one for all hosts, or none.
public struct HTTPRetryBudget: Sendable {
    private enum Kind {
        case perHost(@Sendable (_ host: String) -> RetryBudget)
        case shared(RetryBudget)
        case unlimited
    }

    private let kind: Kind

    /// Returns a limit that has a separate `RetryBudget` for each host.
    ///
    /// A client keeps the budgets of 64 hosts. For further hosts it evicts other budgets, full ones first. An evicted
    /// budget is created again for the next request to its host.
    ///
    /// - Parameter make: Creates the budget of a host when a request goes to a host for which the client has no budget.
    ///   By default a `RetryBudget` with the capacity and the costs of the AWS SDKs.
    public static func perHost(
        _ make: @escaping @Sendable (_ host: String) -> RetryBudget = { _ in RetryBudget() }
    ) -> HTTPRetryBudget {
        HTTPRetryBudget(kind: .perHost(make))
    }

    /// Returns a limit with one budget for all hosts, which other clients and calls of `retry` may share.
    public static func shared(_ budget: RetryBudget) -> HTTPRetryBudget { HTTPRetryBudget(kind: .shared(budget)) }

    /// The absence of a budget: only ``HTTPRetryPolicy/attempts`` and ``HTTPRetryPolicy/maxElapsed`` limit the retries
    /// of a call.
    public static let unlimited = HTTPRetryBudget(kind: .unlimited)

    func budget(for host: String?, in budgets: HostTable<RetryBudget>) -> RetryBudget? {
        switch kind {
        case .perHost(let make): host.map { budgets.value(of: $0, make: make) }
        case .shared(let budget): budget
        case .unlimited: nil
        }
    }
}
