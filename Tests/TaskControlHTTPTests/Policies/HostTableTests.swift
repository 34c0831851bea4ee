import Foundation
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)), .tags(.large))
struct HostTableTests {
    private let budgets = HostTable<RetryBudget>(\.hostUse)
    private let policies = HostTable<ResiliencePolicy>(\.hostUse)
    private let clock = TestClock()

    private func budget(_ host: String) -> RetryBudget { budgets.value(of: host) { _ in RetryBudget() } }

    @Test func aHostKeepsItsValue() {
        let first = budget("a")
        #expect(budget("a") === first)
        #expect(budget("b") !== first)
    }

    @Test func whereThereAreManyHostsOnlyBudgetsThatWereDrawnOnStay() {
        let drawn = budget("drawn")
        #expect(drawn.take(isThrottled: false) != nil)
        let full = budget("full")
        for number in 0..<63 { _ = budget("\(number)") }
        #expect(budget("drawn") === drawn)
        #expect(budget("full") !== full)
    }

    @Test func theValueThatWasUsedLastStays() {
        let (first, second) = (budget("first"), budget("second"))
        _ = budget("first")
        for number in 0..<63 { _ = budget("\(number)") }
        #expect(budget("first") === first)
        #expect(budget("second") !== second)
    }

    @Test func theyDoNotGrowWhereNoHostRecovers() {
        var made: [WeakBudget] = []
        for number in 0..<1_000 {
            let budget = budget("\(number)")
            _ = budget.take(isThrottled: false)
            made.append(WeakBudget(budget: budget))
        }
        #expect(made.count { $0.budget != nil } == 64)
    }

    private struct WeakBudget {
        weak var budget: RetryBudget?
    }

    // MARK: Many hosts that matter

    @Test func aNewHostIsNoReasonToLookAtAllOthers() {
        let judged = OrderRecorder<Int>()
        let table = HostTable<Int> {
            judged.record($0)
            return .needed
        }
        for number in 0..<1_000 {
            let before = judged.count
            _ = table.value(of: "\(number)") { _ in number }
            #expect(judged.count - before <= 4)
        }
    }

    @Test func entriesThatNoLongerMatterGoWithTheNextCallOfAnotherHost() {
        let use = Locked(HostValueUse.needed)
        let table = HostTable<RetryBudget> { _ in use.withLock(\.self) }
        var made: [WeakBudget] = []
        for number in 0..<200 {
            made.append(WeakBudget(budget: table.value(of: "\(number)") { _ in RetryBudget() }))
        }
        #expect(made.count { $0.budget != nil } == 200)
        use.withLock { $0 = .unused }
        table.borrow(of: "0") { _ in RetryBudget() }.giveBack()
        #expect(made.count { $0.budget != nil } == 64)
    }

    // MARK: Policies

    /// Enough hosts to evict each that may be evicted: a table has room for 64.
    private static let manyHosts = fullSize(1_000, inDebug: 200)

    private func policy(_ host: String) -> ResiliencePolicy {
        let clock = clock
        return policies.value(of: host) { host in
            ResiliencePolicy(
                breaker: CircuitBreaker(
                    name: host,
                    failureThreshold: 1,
                    minimumCalls: 1,
                    openDuration: .seconds(5),
                    clock: clock
                )
            )
        }
    }

    private func fail(_ policy: ResiliencePolicy) async {
        await #expect(throws: MarkedError.self) { try await withPolicy(policy) { throw MarkedError() } }
    }

    @Test func aBreakerThatRefusesCallsStaysAmongAnyNumberOfHosts() async {
        let down = policy("down")
        await fail(down)
        for number in 0..<Self.manyHosts { _ = policy("\(number)") }
        #expect(policy("down").breaker === down.breaker)
    }

    /// A breaker that others share may be half-open without a call of this client.
    @Test func aBreakerWithAProbeStaysAmongAnyNumberOfHosts() async throws {
        let recovering = policy("recovering")
        await fail(recovering)
        await clock.advance(by: .seconds(5))
        try await withPolicy(recovering) {
            for number in 0..<200 { await fail(policy("\(number)")) }
            #expect(policy("recovering").breaker === recovering.breaker)
        }
    }

    @Test func theyGrowOnlyForAsLongAsBreakersRefuseCalls() async {
        var made: [WeakBreaker] = []
        for number in 0..<200 {
            let policy = policy("\(number)")
            await fail(policy)
            made.append(WeakBreaker(breaker: policy.breaker))
        }
        #expect(made.count { $0.breaker != nil } == 200)
        // The window in which the calls have failed.
        await clock.advance(by: .seconds(30))
        _ = policy("another")
        #expect(made.count { $0.breaker != nil } == 63)
    }

    private struct WeakBreaker {
        weak var breaker: CircuitBreaker?
    }

    /// A history that a policy has of its host.
    private enum History: CaseIterable {
        case spentToken, failure, permitInUse, spentTokenOfAnOwnPart, failureOfAnOwnPart

        func policy(_ clock: TestClock) -> ResiliencePolicy {
            let rate = RateLimiter(rate: 1, per: .seconds(60), burst: 1, clock: clock)
            let breaker = CircuitBreaker(window: .seconds(60), clock: clock)
            return switch self {
            case .spentToken: ResiliencePolicy(rate: rate)
            case .failure: ResiliencePolicy(breaker: breaker)
            case .permitInUse: ResiliencePolicy(permits: AsyncSemaphore(value: 2))
            case .spentTokenOfAnOwnPart: ResiliencePolicy(attemptParts: [rate])
            case .failureOfAnOwnPart: ResiliencePolicy(callParts: [breaker])
            }
        }
    }

    @Test(arguments: History.allCases)
    private func aPolicyStaysForAsLongAsItsHistoryMatters(_ history: History) async throws {
        let (clock, made) = (clock, OrderRecorder<String>())
        func policy(_ host: String) -> ResiliencePolicy {
            policies.value(of: host) {
                made.record($0)
                return history.policy(clock)
            }
        }
        let first = policy("first")
        switch history {
        case .permitInUse: try await first.permits?.acquire()
        case .failure, .failureOfAnOwnPart: await fail(first)
        case .spentToken, .spentTokenOfAnOwnPart: try await withPolicy(first) {}
        }
        for number in 0..<Self.manyHosts { _ = policy("\(number)") }
        _ = policy("first")
        #expect(made.events.count { $0 == "first" } == 1)
        await clock.advance(by: .seconds(60))
        first.permits?.release()
        for number in 0..<Self.manyHosts { _ = policy("\(number)") }
        _ = policy("first")
        #expect(made.events.count { $0 == "first" } == 2, "the entry goes when its history has ended")
    }

    @Test func aPolicyWithACallStaysAmongAnyNumberOfHosts() async throws {
        let gate = Gate()
        let (policies, kept) = (policies, Locked<CircuitBreaker?>(nil))
        let call = Task {
            let loan = policies.borrow(of: "busy", make: { _ in ResiliencePolicy(breaker: CircuitBreaker()) })
            defer { loan.giveBack() }
            kept.withLock { $0 = loan.value.breaker }
            try await gate.wait()
        }
        try await gate.waitForWaiters()
        for number in 0..<Self.manyHosts { _ = policy("\(number)") }
        #expect(policy("busy").breaker === kept.withLock(\.self))
        gate.open()
        try await call.value
        for number in 0..<Self.manyHosts { _ = policy("\(number)") }
        #expect(policy("busy").breaker !== kept.withLock(\.self))
    }
}
