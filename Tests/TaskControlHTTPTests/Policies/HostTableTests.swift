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
        await clock.advance(by: .seconds(5))
        _ = policy("another")
        #expect(made.count { $0.breaker != nil } == 63)
    }

    private struct WeakBreaker {
        weak var breaker: CircuitBreaker?
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

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct HostTableStateMachineTests {
    private enum Event: CaseIterable {
        case useA, useB, borrowA, borrowB, giveBackA, giveBackB, judge, remove
    }

    /// All sequences of events on a table with room for two hosts, of which a third one is added after each eviction.
    @Test func onlyWhatIsNotBorrowedMayBeRemoved() {
        var machine = HostTableStateMachine<Int>(comfortable: 1)
        _ = machine.add(1, "a", isBorrowed: false)
        _ = machine.add(2, "b", isBorrowed: true)
        #expect(machine.candidates().map(\.host) == ["a"])
        machine.giveBack("b")
        #expect(machine.candidates().map(\.host) == ["a", "b"])
    }

    @Test func nothingThatIsUsedMeanwhileIsRemoved() {
        let length = fullSize(6, inDebug: 5)
        var count = 0
        play(HostTableStateMachine<Int>(comfortable: 1), [:], [], used: [], length, &count)
        #expect(count > 1_000)
    }

    private func play(
        _ machine: HostTableStateMachine<Int>,
        _ borrowed: [String: Int],
        _ judged: [HostTableStateMachine<Int>.Candidate],
        used: Set<String>,
        _ rest: Int,
        _ count: inout Int
    ) {
        count += 1
        machine.checkInvariants(borrowed: Set(borrowed.filter { $0.value > 0 }.keys))
        guard rest > 0 else { return }
        for event in Event.allCases {
            var (machine, borrowed, judged, used) = (machine, borrowed, judged, used)
            func use(_ host: String, isBorrowed: Bool) {
                if machine.use(host, isBorrowed: isBorrowed) == nil {
                    #expect(machine.add(7, host, isBorrowed: isBorrowed) == 7)
                }
                if isBorrowed { borrowed[host, default: 0] += 1 }
                used.insert(host)
            }
            func giveBack(_ host: String) -> Bool {
                guard borrowed[host, default: 0] > 0 else { return false }
                machine.giveBack(host)
                borrowed[host, default: 0] -= 1
                used.insert(host)
                return true
            }
            switch event {
            case .useA: use("a", isBorrowed: false)
            case .useB: use("b", isBorrowed: false)
            case .borrowA: use("a", isBorrowed: true)
            case .borrowB: use("b", isBorrowed: true)
            case .giveBackA: if !giveBack("a") { continue }
            case .giveBackB: if !giveBack("b") { continue }
            case .judge:
                judged = machine.candidates()
                used = []
                #expect(judged.allSatisfy { borrowed[$0.host, default: 0] == 0 })
            case .remove:
                let before = machine.hosts
                let removed = machine.remove(judged)
                let gone = before.subtracting(machine.hosts)
                #expect(removed.count == gone.count)
                #expect(gone.isDisjoint(with: used), "an entry that was used since the judgement stays")
                judged = []
            }
            play(machine, borrowed, judged, used: used, rest - 1, &count)
        }
    }
}
