import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

/// The races of a breaker. Each ends with a call that succeeds: no breaker refuses calls forever.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct CircuitBreakerSimulationTests {
    private static func openBreaker(probes: Int = 1) async -> CircuitBreaker {
        let breaker = CircuitBreaker(
            failureThreshold: 0.5,
            window: .seconds(10),
            minimumCalls: 2,
            openDuration: .seconds(5),
            probes: probes
        )
        for _ in 0..<2 { try? await withPolicy(breaker) { throw MarkedError() } }
        return breaker
    }

    /// The breaker admits a call in at most the time that it is open, and closes.
    private static func expectRecovers(_ breaker: CircuitBreaker, _ sim: Simulation) async throws {
        let start = sim.now
        while breaker.state != .closed {
            try await Task.sleep(for: .seconds(1))
            try? await withPolicy(breaker) {}
            sim.expect(sim.now - start <= .seconds(11), "the breaker closes again")
        }
    }

    @Test func aProbeIsCancelledAtAnyMoment() async throws {
        try await race { sim in
            let breaker = await Self.openBreaker()
            try await Task.sleep(for: .seconds(5))
            let probe = Task { try await withPolicy(breaker) { try await Task.sleep(for: .seconds(1)) } }
            sim.atAnyPoint { probe.cancel() }
            let other = Task { try await withPolicy(breaker) { try await Task.sleep(for: .milliseconds(500)) } }
            let results = [await probe.result, await other.result]
            sim.expect(breaker.state != .halfOpen, "no probe is running")
            let succeeded = results.contains { (try? $0.get()) != nil }
            sim.expect(!succeeded || breaker.state == .closed, "a probe that succeeds closes the breaker")
            try await Self.expectRecovers(breaker, sim)
        }
    }

    /// A call that was admitted before the breaker opened ends while a probe runs.
    @Test func theLateResultOfAnEarlierGenerationIsIgnored() async throws {
        try await race { sim in
            let breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 2, openDuration: .seconds(5))
            let late = Task {
                try await withPolicy(breaker) {
                    await Task { try? await Task.sleep(for: .seconds(6)) }.value
                    if sim.seed % 2 == 0 { throw MarkedError() }
                }
            }
            try await Task.sleep(for: .milliseconds(1))
            for _ in 0..<2 { try? await withPolicy(breaker) { throw MarkedError() } }
            try await Task.sleep(for: .seconds(5))
            try? await withPolicy(breaker) {
                sim.expect(breaker.state == .halfOpen, "the probe has a lease")
                // The end of the late call, and that of the probe, are at the same moment, in any order.
                try await Task.sleep(for: .milliseconds(999))
                if sim.seed % 3 == 0 { throw MarkedError() }
            }
            _ = await late.result
            let isOpen = if case .open = breaker.state { true } else { false }
            sim.expect(isOpen == (sim.seed % 3 == 0), "only the probe decides")
        }
    }

    @Test func aProbeThatNeverReturns() async throws {
        try await race { sim in
            let breaker = await Self.openBreaker(probes: 2)
            try await Task.sleep(for: .seconds(5))
            let end = Gate()
            let probes = (0..<2).map { _ in
                Task { try? await withPolicy(breaker) { await end.waitIgnoringCancellation() } }
            }
            try await Task.sleep(for: .seconds(1))
            sim.atAnyPoint { probes[0].cancel() }
            sim.expect(breaker.state == .halfOpen, "both have their leases")
            await #expect(throws: CallRefusedError.self) { try await withPolicy(breaker) {} }
            try await Task.sleep(for: .seconds(4))
            sim.expect(breaker.state == .open(retryAfter: .zero), "the leases have expired")
            try await withPolicy(breaker) {}
            try await withPolicy(breaker) {}
            sim.expect(breaker.state == .closed, "two others have succeeded")
            end.open()
            for probe in probes { await probe.value }
            sim.expect(breaker.state == .closed, "what the first two say comes too late")
        }
    }

    @Test func aFloodOfCallersThatLeave() async throws {
        try await race { sim in
            let breaker = await Self.openBreaker(probes: 2)
            try await Task.sleep(for: .seconds(5))
            let callers = (0..<8).map { number in
                Task {
                    try await Task.sleep(for: .milliseconds(100 * number))
                    try await withPolicy(breaker) { try await Task.sleep(for: .seconds(60)) }
                }
            }
            for caller in callers {
                try await Task.sleep(for: .milliseconds(100))
                caller.cancel()
            }
            for caller in callers { _ = await caller.result }
            sim.expect(breaker.state != .halfOpen, "nobody is left")
            sim.expect(breaker.state == .closed, "three of them have left in time")
        }
    }

    /// At every moment of a random program: half-open means that a call is running that was admitted as a probe less than the open time ago.
    @Test func theBreakerIsHalfOpenOnlyWithALivingLease() async throws {
        try await race { sim in
            let breaker = await Self.openBreaker(probes: 1 + Int(sim.seed % 3))
            let admitted = OrderRecorder<Duration>()
            await withTaskGroup { group in
                for number in 0..<6 {
                    var random = sim.random
                    let (delay, length) = (
                        Int.random(in: 0...12, using: &random), Int.random(in: 0...7, using: &random)
                    )
                    let (fails, leaves) = (Bool.random(using: &random), Bool.random(using: &random))
                    group.addTask {
                        let call = Task {
                            try await Task.sleep(for: .seconds(delay))
                            try await withPolicy(breaker) {
                                admitted.record(sim.now)
                                try await Task.sleep(for: .seconds(length))
                                if fails { throw MarkedError("\(number)") }
                            }
                        }
                        if leaves { sim.atAnyPoint { call.cancel() } }
                        _ = await call.result
                        guard breaker.state == .halfOpen else { return }
                        let isLiving = admitted.events.contains { sim.now - $0 < .seconds(5) }
                        sim.expect(isLiving, "a probe holds a lease")
                    }
                }
            }
            sim.expect(breaker.state != .halfOpen, "no call is running")
            try await Self.expectRecovers(breaker, sim)
        }
    }
}
