import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct WaitGraphTests {
    private struct TestPlace: WaitPlace {
        let ownerID: Int
        let number: UInt64
    }

    private typealias Graph = WaitGraph<TestPlace>

    /// The owners 0 and 1 have flights, and the others are queues, with their numbers as widths of 1 and 2.
    private static let places = (0..<4).flatMap { owner in
        (0..<3).map { TestPlace(ownerID: owner, number: $0) }
    }

    /// The waits in a list, of which the stuck ones are found by trying all.
    private struct Model {
        var waits: [(wait: UInt64, goal: Graph.Goal, places: [TestPlace])] = []
        var over: Set<TestPlace> = []
        var held: Set<TestPlace> = []

        func isAwaited(_ flight: TestPlace) -> Bool {
            waits.contains { wait in
                if case .flight(let other) = wait.goal { other == flight } else { false }
            }
        }

        /// The largest set of waits that cannot end before each other.
        var stuck: Set<UInt64> {
            var stuck = Set(waits.map(\.wait))
            func hasStuckWait(inside place: TestPlace) -> Bool {
                waits.contains { stuck.contains($0.wait) && $0.places.contains(place) }
            }
            func isStuck(_ goal: Graph.Goal) -> Bool {
                switch goal {
                case .flight(let flight): !over.contains(flight) && hasStuckWait(inside: flight)
                case .turn(let queue, let width):
                    held.count { $0.ownerID == queue && hasStuckWait(inside: $0) } >= width
                case .end(let queue, let last):
                    held.contains { $0.ownerID == queue && $0.number <= last && hasStuckWait(inside: $0) }
                }
            }
            var count: Int
            repeat {
                count = stuck.count
                for wait in waits where stuck.contains(wait.wait) && !isStuck(wait.goal) { stuck.remove(wait.wait) }
            } while stuck.count < count
            return stuck
        }
    }

    /// Random waits and ends of waits, turns and flights, against a list.
    @Test func refusesTheWaitsThatWouldBeStuck() {
        let refused = Schedules.seeds(100, inDebug: 12).map(playRandomly)
        #expect(refused.contains { $0 > 0 })
    }

    /// - Returns: The number of waits that were refused.
    private func playRandomly(seed: UInt64) -> Int {
        var random = SeededGenerator(seed: seed)
        var (graph, model, refused) = (Graph(), Model(), 0)
        for step in 0..<150 {
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<7:
                let flight = Self.places[Int.random(in: 0..<6, using: &random)]
                let queue = Int.random(in: 2..<4, using: &random)
                let goal: Graph.Goal =
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: .flight(flight)
                    case 1: .turn(of: queue, width: queue - 1)
                    default: .end(of: queue, upTo: UInt64.random(in: 0..<3, using: &random))
                    }
                // A flight for which a caller comes to wait has not ended.
                if case .flight(let flight) = goal, model.over.contains(flight) { continue }
                let places = Self.places.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random))
                let wait = graph.wait(for: goal, inside: Array(places)) { model.held.contains($0) }
                let number = wait ?? .max
                model.waits.append((number, goal, Array(places)))
                #expect((wait == nil) == model.stuck.contains(number), "step \(step)")
                if wait == nil {
                    model.waits.removeLast()
                    refused += 1
                }
            case 7..<12:
                guard let index = model.waits.indices.randomElement(using: &random) else { continue }
                let wait = model.waits.remove(at: index).wait
                graph.remove(wait)
                graph.remove(wait)
            case 12:
                let flight = Self.places[Int.random(in: 0..<6, using: &random)]
                graph.isOver(flight)
                if model.isAwaited(flight) { model.over.insert(flight) }
            default:
                // A turn that ends does not begin again, and has no code that comes to wait.
                let turn = Self.places[Int.random(in: 6..<12, using: &random)]
                let isFull = model.held.count { $0.ownerID == turn.ownerID } == turn.ownerID - 1
                if model.held.remove(turn) == nil, !isFull, !model.waits.contains(where: { $0.places.contains(turn) }) {
                    model.held.insert(turn)
                }
            }
            // A flight is new when no caller waits for it any more.
            model.over = model.over.filter(model.isAwaited)
            #expect(graph.count == model.waits.count && model.stuck.isEmpty)
        }
        for wait in model.waits { graph.remove(wait.wait) }
        #expect(graph.count == 0 && graph.capacity < 100)
        return refused
    }

    @Test func aBurstOfWaitsLeavesNothingBehind() {
        var graph = Graph()
        let waits = (0..<5_000).map { number in
            graph.wait(
                for: .flight(TestPlace(ownerID: 0, number: UInt64(number % 50))),
                inside: [TestPlace(ownerID: 1, number: UInt64(number))]
            ) { _ in true }
        }
        for wait in waits { if let wait { graph.remove(wait) } }
        #expect(graph.count == 0 && graph.capacity < 100)
    }

    /// The callers of the flight that the search begins in are not looked at, and neither are turns that have ended.
    @Test func aSearchAsksOnlyForTheTurnsOfTheQueuesOnItsWay() {
        var (graph, asked) = (Graph(), 0)
        func wait(for goal: Graph.Goal, inside place: TestPlace) -> Bool {
            graph.wait(for: goal, inside: [place]) { _ in
                asked += 1
                return false
            } != nil
        }
        let token = TestPlace(ownerID: 0, number: 0)
        for number in 0..<1_000 {
            #expect(wait(for: .flight(token), inside: TestPlace(ownerID: 2, number: UInt64(number))))
        }
        #expect(wait(for: .turn(of: 3, width: 1), inside: token))
        #expect(asked == 0)
        #expect(wait(for: .turn(of: 2, width: 1), inside: token))
        #expect(asked == 1_000, "each turn that has ended is asked once")
        #expect(wait(for: .turn(of: 2, width: 1), inside: token))
        #expect(asked == 1_000)
    }
}
