import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// Conditions that must hold in some schedule of a call.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct SometimesTests {
    @Sendable private static func race(_ sim: Simulation, _ name: String) async {
        let order = OrderRecorder<Int>()
        await withTaskGroup { group in for number in 0..<3 { group.addTask { order.record(number) } } }
        sim.sometimes(order.events[0] == 2, "the last one comes first")
        for number in 0..<3 { sim.sometimes(order.events[1] == number, "\(number) is second") }
        if name != "" { sim.sometimes(order.events.isEmpty, name) }
    }

    @Test func aConditionThatHoldsInSomeScheduleIsMet() throws {
        try simulate(seeds: 0..<100) { sim in await Self.race(sim, "") }
    }

    @Test func aConditionThatNeverHoldsFailsTheCall() throws {
        let failure = try #require(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<100) { sim in await Self.race(sim, "nothing is recorded") }
        }
        guard case .neverHeld("nothing is recorded", let location, 100) = failure.reason else {
            Issue.record("\(failure)")
            return
        }
        #expect(location.filePath == #filePath)
        #expect(failure.description == "\(failure.reason)")
        #expect(failure.description.contains("never true in 100 schedules: nothing is recorded"))
    }

    /// A single seed replays one schedule, in which the condition need not hold.
    @Test func oneScheduleIsNotChecked() throws {
        try simulate(seed: 1) { sim in await Self.race(sim, "nothing is recorded") }
        try simulate(seeds: 7..<8) { sim in await Self.race(sim, "nothing is recorded") }
        try simulate(schedule: "3:") { sim in await Self.race(sim, "nothing is recorded") }
    }

    @Test func twoValuesThatDifferAreShown() throws {
        let failure = try #require(failure { sim in sim.expect(1 + 1, equals: 3, "the sum is right") })
        #expect("\(failure)".contains("expected: the sum is right: 3, not 2"))
        try simulate(seed: 1) { sim in sim.expect([1], equals: [1]) }
    }
}
