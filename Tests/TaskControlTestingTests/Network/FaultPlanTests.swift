import TestSupport
import Testing

@testable import TaskControlTesting

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct FaultPlanTests {
    private static let kinds = SimulatedNetwork.InjectedFault.allCases

    private func plan(_ kinds: [SimulatedNetwork.InjectedFault] = kinds, seed: UInt64 = 1, nodes: Int = 5) -> [FaultPlan
        .Item]
    {
        FaultPlan(
            seed: seed,
            kinds: kinds,
            nodes: nodes,
            victims: [1, 3].filter { $0 < nodes } + (nodes == 1 ? [0] : []),
            count: 500,
            within: .seconds(10),
            lasting: .seconds(1) ... .seconds(2)
        )
        .items
    }

    @Test func oneSeedGivesOnePlan() {
        #expect(plan(seed: 7) == plan(seed: 7) && plan(seed: 7) != plan(seed: 8))
    }

    @Test func theKindsOfFaultsDoNotChangeTheirTimes() {
        let (all, crashes) = (plan(), plan([.crash]))
        #expect(all.map(\.start) == crashes.map(\.start) && all.map(\.length) == crashes.map(\.length))
    }

    @Test func faultsKeepToTheirLimits() {
        let items = plan()
        #expect(
            items.allSatisfy {
                (.zero ... .seconds(10)).contains($0.start) && (.seconds(1) ... .seconds(2)).contains($0.length)
            }
        )
        for item in items {
            switch item.action {
            case .partition(let group): #expect((1...4).contains(group.count))
            case .block(let links): #expect(!links.isEmpty && links.allSatisfy { $0.from != $0.to })
            case .slow(let link, let factor): #expect(link.from != link.to && (4...128).contains(factor))
            case .crash(let node), .pause(let node), .strike(let node, _): #expect([1, 3].contains(node))
            }
        }
    }

    @Test func everythingHappensInTheEnd() {
        let actions = plan().map(\.action)
        func isThere(_ condition: (FaultPlan.Action) -> Bool) -> Bool { actions.contains(where: condition) }
        #expect(isThere { if case .partition(let group) = $0 { group.count == 1 } else { false } })
        #expect(isThere { if case .partition(let group) = $0 { group.count == 3 } else { false } })
        #expect(isThere { if case .block(let links) = $0 { links.count == 1 } else { false } })
        #expect(
            isThere {
                if case .block(let links) = $0 { links.count == 4 && links[0].from == links[1].from } else { false }
            }
        )
        #expect(
            isThere { if case .block(let links) = $0 { links.count == 4 && links[0].to == links[1].to } else { false } }
        )
        #expect(isThere { if case .slow = $0 { true } else { false } })
        for node in [1, 3] {
            #expect([.crash(node), .pause(node)].allSatisfy(actions.contains))
            for spares in 0...3 {
                #expect(actions.contains(.strike(node, Strike(kind: .crash, spares: spares))))
                #expect(actions.contains(.strike(node, Strike(kind: .pause, spares: spares))))
            }
        }
    }

    @Test(arguments: [1, 2, 70])
    func networksOfAnySizeHaveAPlan(nodes: Int) {
        #expect(plan(nodes: nodes).count == 500)
    }
}
