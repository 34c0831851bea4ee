import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct FlightNestingTests {
    /// Random waits, departures and ends against a list of waits that is searched through.
    @Test(arguments: Schedules.seeds(20, inDebug: 4))
    func agreesWithAListOfWaits(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var nesting = FlightNesting<Int>()
        var waits: [(origin: Int, target: Int, caller: Int)] = []
        var (flights, ended) = (Array(0..<6), Set<Int>())
        for step in 0..<600 {
            let flight = flights.randomElement(using: &random)!
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8:
                guard let target = flights.filter({ $0 != flight }).randomElement(using: &random) else { continue }
                nesting.insert(from: flight, to: target, by: step)
                waits.append((flight, target, step))
            case 8..<18:
                guard let index = waits.indices.randomElement(using: &random) else { continue }
                let wait = waits.remove(at: index)
                nesting.remove(to: wait.target, by: wait.caller)
            case 18:
                nesting.removeAll(to: flight)
                waits.removeAll { $0.target == flight }
            default:
                nesting.removeAll(of: flight)
                waits.removeAll { $0.target == flight }
                ended.insert(flight)
                flights[flights.firstIndex(of: flight)!] = 1_000 + step
            }
            for flight in flights {
                var reached: Set = [flight]
                for _ in flights {
                    for wait in waits where reached.contains(wait.origin) && !ended.contains(wait.origin) {
                        reached.insert(wait.target)
                    }
                }
                #expect(flights.allSatisfy { nesting.leads(from: flight, to: [$0]) == reached.contains($0) })
            }
            #expect(nesting.isEmpty == waits.isEmpty)
        }
    }
}
