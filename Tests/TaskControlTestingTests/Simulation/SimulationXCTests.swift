import TaskControlTesting
import XCTest

/// The simulation inside the other framework.
// XCTest has no tags. scripts/tests tagged reads this line: .tags(.schedules)
final class SimulationXCTests: XCTestCase {
    func testASimulationInAnOrdinaryTest() throws {
        try XCTSkipUnless(Simulation.isSupported)
        try simulate(seeds: 0..<100) { sim in
            try await Task.sleep(for: .seconds(60))
            sim.expect(sim.now == .seconds(60))
        }
    }

    func testASimulationInAnAsynchronousTest() async throws {
        try XCTSkipUnless(Simulation.isSupported)
        await Task.yield()
        try simulate(seeds: 0..<100) { _ in await MainActor.run { MainActor.assertIsolated() } }
    }

    @MainActor func testASimulationOnTheMainActor() throws {
        try XCTSkipUnless(Simulation.isSupported)
        try simulate(seeds: 0..<100) { @MainActor _ in await Task.yield() }
    }

    func testAFailureIsAnErrorThatSaysWhichSeed() throws {
        try XCTSkipUnless(Simulation.isSupported)
        XCTAssertThrowsError(try simulate(seeds: 3..<100) { sim in sim.expect(sim.seed != 5) }) { error in
            XCTAssertTrue("\(error)".contains("simulate(seed: 5, strategy: "))
        }
    }
}
