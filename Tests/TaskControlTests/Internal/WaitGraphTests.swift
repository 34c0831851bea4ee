import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct WaitGraphTests {
    /// Random waits and ends against a list of waits that is searched through.
    @Test(arguments: Schedules.seeds(20, inDebug: 4))
    func agreesWithAListOfWaits(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var graph = WaitGraph<Int>()
        var waits: [(wait: UInt64, flight: Int, places: [Int])] = []
        for _ in 0..<600 {
            let flight = Int.random(in: 0..<6, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<9:
                // Places above 5 are turns of queues, for which no caller waits.
                let places = (0..<Int.random(in: 1...2, using: &random)).map { _ in
                    Int.random(in: 0..<8, using: &random)
                }
                let isCircular = reached(from: places, waits).contains(flight)
                let wait = graph.wait(for: flight, inside: places)
                #expect((wait == nil) == isCircular)
                if let wait { waits.append((wait, flight, places)) }
            case 9..<18:
                guard let index = waits.indices.randomElement(using: &random) else { continue }
                let wait = waits.remove(at: index)
                graph.remove(wait.wait, for: wait.flight)
                graph.remove(wait.wait, for: wait.flight)
            default:
                graph.removeAll(for: flight)
                waits.removeAll { $0.flight == flight }
            }
            for place in 0..<8 { #expect(graph.blocked(by: [place]) == reached(from: [place], waits)) }
            for place in 0..<8 {
                #expect(!waits.contains { $0.flight == place && reached(from: $0.places, waits).contains(place) })
            }
            #expect(graph.flightCount == Set(waits.map(\.flight)).count)
        }
    }

    private func reached(from places: [Int], _ waits: [(wait: UInt64, flight: Int, places: [Int])]) -> Set<Int> {
        var reached = Set(places)
        for _ in 0..<8 {
            for wait in waits where reached.contains(wait.flight) { reached.formUnion(wait.places) }
        }
        return reached
    }

    @Test func aBurstOfWaitsLeavesNothingBehind() {
        var graph = WaitGraph<Int>()
        let waits = (0..<5_000).map { graph.wait(for: $0 % 50, inside: [10_000 + $0]) }
        for (number, wait) in waits.enumerated() { if let wait { graph.remove(wait, for: number % 50) } }
        #expect(graph.flightCount == 0 && graph.capacity < 100)
    }
}
