import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlSnapshot

/// The stuck nodes, and their circles.
@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct WaitGraphTests {
    /// - Parameters:
    ///   - edges: The nodes that each node waits for.
    ///   - any: The nodes that wait for one of several.
    ///   - free: The nodes that code outside the graph may free.
    private func circles(_ edges: [[Int]], any: Set<Int> = [], free: Set<Int> = []) -> [Set<Int>] {
        graph(edges, any: any, free: free).circles().map(Set.init)
    }

    private func graph(_ edges: [[Int]], any: Set<Int>, free: Set<Int> = []) -> TaskControlSnapshot.WaitGraph {
        var graph = WaitGraph()
        for node in edges.indices { #expect(graph.addNode(needsAll: !any.contains(node)) == node) }
        for (node, targets) in edges.enumerated() {
            for target in targets { graph.addEdge(from: node, to: target) }
        }
        for node in free { graph.free(node) }
        return graph
    }

    @Test func aChainIsNoCircle() {
        #expect(circles([]) == [])
        #expect(circles([[1], [2], []]) == [])
        #expect(circles([[1, 2], [2], []]) == [])
    }

    @Test func whoWaitsForItselfIsACircleAndWhoWaitsForThatIsNotInIt() {
        #expect(circles([[0]]) == [[0]])
        #expect(circles([[1], [0]]) == [[0, 1]])
        #expect(circles([[1], [2], [1]]) == [[1, 2]])
        #expect(circles([[1], [0], [3], [2], [0, 2]]) == [[0, 1], [2, 3]])
    }

    @Test func whoWaitsForOneOfSeveralGoesOnWhenOneDoes() {
        #expect(circles([[1, 2], [0], []], any: [0]) == [])
        #expect(circles([[1, 2], [0], [0]], any: [0]).count == 1)
        #expect(circles([[1, 2], [0], []]) == [[0, 1]])
        #expect(circles([[1], [0]], free: [1]) == [])
    }

    /// All graphs of three nodes, each of both kinds: against the nodes that can continue, found by trying.
    @Test func exactlyThoseWhoCanNeverGoOnAreStuck() {
        let choices = (0..<8).map { bits in (0..<3).filter { bits >> $0 & 1 == 1 } }
        var stuckGraphs = 0
        for (a, b, c) in choices.flatMap({ a in choices.flatMap { b in choices.map { (a, b, $0) } } }) {
            for any in choices.map(Set.init) {
                let edges = [a, b, c]
                var free: Set<Int> = []
                for _ in 0..<3 {
                    for node in 0..<3 {
                        let ready = edges[node].filter(free.contains).count
                        if edges[node].isEmpty || (any.contains(node) ? ready > 0 : ready == edges[node].count) {
                            free.insert(node)
                        }
                    }
                }
                let found = circles(edges, any: any)
                #expect(graph(edges, any: any).everybodyFree() == (0..<3).map(free.contains), "\(edges) \(any)")
                #expect(found.isEmpty == (free.count == 3), "\(edges) \(any)")
                #expect(found.allSatisfy { $0.isDisjoint(with: free) }, "\(edges) \(any)")
                for circle in found {
                    #expect(circle.allSatisfy { !circle.isDisjoint(with: edges[$0]) }, "\(edges) \(any)")
                }
                if free.count < 3 { stuckGraphs += 1 }
            }
        }
        #expect(stuckGraphs > 500)
    }
}
