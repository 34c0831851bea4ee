import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct CircuitBreakerStateMachineTests {
    /// Every sequence of events with few calls agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [
        (probes: 1, slowCall: nil as Int?, calls: 3, depth: fullSize(20, inDebug: 13)),
        (probes: 2, slowCall: nil, calls: 3, depth: fullSize(18, inDebug: 12)),
        (probes: 1, slowCall: 2, calls: 3, depth: fullSize(16, inDebug: 11)),
    ])
    func everyShortSequenceAgreesWithTheModel(probes: Int, slowCall: Int?, calls: Int, depth: Int) {
        let steps = CircuitBreakerDriver(probes: probes, slowCall: slowCall).playEverySequence(upTo: depth) {
            $0.possibleEvents(calls: calls)
        }
        #expect(steps > 1_000)
    }

    @Test(arguments: Schedules.seeds(40, inDebug: 8))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = CircuitBreakerDriver(probes: Int(seed % 4) + 1, slowCall: seed % 3 == 0 ? 4 : nil)
        for _ in 0..<2_000 {
            driver.play(driver.possibleEvents(calls: 12).randomElement(using: &random)!)
        }
    }

    /// From each state that short sequences reach, the circuit admits a call after the time that it is open, whatever the calls do that are running.
    @Test func noCircuitRefusesCallsForever() {
        _ = CircuitBreakerDriver(probes: 1, slowCall: nil).playEverySequence(upTo: fullSize(11, inDebug: 9)) { driver in
            var later = driver
            for _ in 0..<CircuitBreakerModel.openDuration { later.play(.tick) }
            let calls = later.model.calls.count
            later.play(.admit)
            #expect(later.model.calls.count == calls + 1)
            return driver.possibleEvents(calls: 3)
        }
    }

    /// A probe's lease is as long as the time that its caller has, if that is shorter.
    @Test func aLeaseEndsWithTheDeadlineOfItsProbe() {
        var machine = CircuitBreakerStateMachine(
            CircuitBreakerStateMachine.Configuration(
                failureThreshold: 1,
                window: .seconds(1),
                minimumCalls: 1,
                openDuration: .seconds(10),
                probes: 1
            )
        )
        let permit = machine.admitWhileClosed()!
        #expect(machine.report(.failed, of: permit, at: .zero) == .opened)
        guard case .probe = machine.admit(at: .seconds(10), lease: .seconds(2)) else {
            Issue.record("the time is over")
            return
        }
        #expect(machine.state(at: .seconds(11)) == .halfOpen)
        guard case .refused(retryAfter: .seconds(1)) = machine.admit(at: .seconds(11), lease: nil) else {
            Issue.record("the lease lives")
            return
        }
        #expect(machine.state(at: .seconds(12)) == .open(retryAfter: .zero))
        guard case .probe = machine.admit(at: .seconds(12), lease: .seconds(-1)) else {
            Issue.record("the lease has expired")
            return
        }
        #expect(machine.state(at: .seconds(12)) == .open(retryAfter: .zero), "no time was left")
        guard case .probe = machine.admit(at: .seconds(12), lease: .seconds(100)),
            case .refused(retryAfter: .seconds(10)) = machine.admit(at: .seconds(12), lease: nil)
        else {
            Issue.record("a lease is not longer than the circuit is open")
            return
        }
    }
}
