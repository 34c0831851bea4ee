import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlSupervision

@Suite(.tags(.machine))
struct PeriodicStateMachineTests {
    private func machine(_ timing: PeriodicTiming, interval: Int = 10, first: Int = 10) -> PeriodicStateMachine {
        PeriodicStateMachine(interval: .seconds(interval), timing: timing, first: .seconds(first))
    }

    /// The planned times, of ticks that begin and end at given seconds.
    private func times(_ timing: PeriodicTiming, _ ticks: [(begin: Int, end: Int)]) -> [Int] {
        var machine = machine(timing)
        return ticks.map { tick in
            machine.begin(at: .seconds(tick.begin))
            machine.succeed(at: .seconds(tick.end))
            return Int(machine.due.components.seconds)
        }
    }

    @Test func aFixedDelayBeginsAtTheEnd() {
        #expect(times(.fixedDelay, [(10, 10), (20, 25), (35, 80)]) == [20, 35, 90])
    }

    @Test func skippedTicksAreLeftOut() {
        // In time; up to the next time; past one and past three of them; and a tick that begins late.
        let ticks = [(10, 11), (20, 30), (30, 41), (50, 85), (125, 126)]
        #expect(times(.fixedRate(missed: .skip), ticks) == [20, 30, 50, 90, 130])
    }

    @Test func missedTicksAreMadeUpForOnce() {
        let ticks = [(10, 11), (20, 30), (30, 41), (41, 42), (50, 85), (85, 86), (125, 126)]
        #expect(times(.fixedRate(missed: .once), ticks) == [20, 30, 40, 50, 80, 90, 130])
    }

    @Test func allMissedTicksAreMadeUpFor() {
        let ticks = [(10, 45), (45, 45), (45, 45), (45, 46), (50, 51)]
        #expect(times(.fixedRate(missed: .all), ticks) == [20, 30, 40, 50, 60])
    }

    @Test func aMillionTicksDoNotDrift() {
        var random = SeededGenerator(seed: 5)
        for missed in MissedTicks.allCases {
            // An interval that no floating-point number represents.
            let interval = Duration(secondsComponent: 0, attosecondsComponent: 333_333_333_333_333_331)
            var machine = PeriodicStateMachine(interval: interval, timing: .fixedRate(missed: missed), first: interval)
            var now = Duration.zero
            let count = fullSize(1_000_000, inDebug: 50_000)
            for tick in 1...count {
                now = max(now, machine.due) + interval * Double.random(in: 0..<0.5, using: &random)
                machine.begin(at: now)
                now += interval * Double.random(in: 0..<0.5, using: &random)
                machine.succeed(at: now)
                // The macro would take most of the time.
                if machine.due != interval * (tick + 1) { Issue.record("Tick \(tick + 1) is due at \(machine.due).") }
            }
            #expect(machine.due == interval * (count + 1))
        }
    }

    /// Against a count of the times one by one.
    @Test(arguments: MissedTicks.allCases)
    func anyTickIsOneOfTheTimes(_ missed: MissedTicks) {
        var random = SeededGenerator(seed: 9)
        for _ in 0..<fullSize(20_000, inDebug: 1_000) {
            let interval = Int.random(in: 1...9, using: &random)
            var machine = machine(.fixedRate(missed: missed), interval: interval, first: 0)
            var (planned, now) = (0, 0)
            for _ in 0..<12 {
                now = max(now, planned) + Int.random(in: 0...3, using: &random) * Int.random(in: 0...8, using: &random)
                machine.begin(at: .seconds(now))
                if missed != .all { while planned + interval <= now { planned += interval } }
                #expect(machine.due == .seconds(planned))
                now += Int.random(in: 0...20, using: &random)
                let delay = Int.random(in: 0...40, using: &random)
                if Int.random(in: 0...3, using: &random) == 0 {
                    _ = machine.fail()
                    machine.backOff(.seconds(delay), at: .seconds(now))
                    let earliest = max(now, planned + max(delay, interval))
                    planned += interval
                    while planned < earliest { planned += interval }
                } else {
                    machine.succeed(at: .seconds(now))
                    planned += interval
                    switch missed {
                    case .skip: while planned < now { planned += interval }
                    case .once: while planned + interval <= now { planned += interval }
                    default: break
                    }
                }
                #expect(machine.due == .seconds(planned))
            }
        }
    }

    @Test func failuresAreCountedInARow() {
        var machine = machine(.fixedDelay)
        expect(machine.fail(), 1)
        machine.backOff(.seconds(1), at: .seconds(10))
        #expect(machine.due == .seconds(20), "at least an interval")
        expect(machine.fail(), 2)
        machine.backOff(.seconds(15), at: .seconds(20))
        #expect(machine.due == .seconds(35))
        machine.succeed(at: .seconds(35))
        expect(machine.fail(), 1)
    }

    @Test func absurdValuesHaveTheNearestMeaning() {
        for interval in [Duration.zero, .seconds(-1), .nanoseconds(1)] {
            var machine = PeriodicStateMachine(interval: interval, timing: .fixedRate(), first: .seconds(-5))
            #expect(machine.due == .zero)
            machine.begin(at: .seconds(1_000_000_000))
            machine.succeed(at: .seconds(1_000_000_000))
            #expect(machine.due == .seconds(1_000_000_000) + .nanoseconds(1))
        }
        for missed in MissedTicks.allCases {
            var machine = PeriodicStateMachine(
                interval: .nanoseconds(1),
                timing: .fixedRate(missed: missed),
                first: .zero
            )
            // A clock that jumps.
            machine.begin(at: .seconds(Int64.max))
            machine.backOff(.zero, hint: .seconds(Int64.max), at: .seconds(Int64.max))
            machine.succeed(at: .seconds(Int64.max))
            #expect(machine.due > .zero)
        }
        var machine = PeriodicStateMachine(interval: .seconds(Int64.max), timing: .fixedDelay, first: .zero)
        machine.succeed(at: .seconds(1))
        #expect(machine.due > .seconds(3_000_000_000 as Int64))
    }
}
