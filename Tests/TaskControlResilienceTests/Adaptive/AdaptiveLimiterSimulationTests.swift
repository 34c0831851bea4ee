import TaskControl
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct AdaptiveLimiterSimulationTests {
    /// Whatever leaves in between: no more calls run than the limit, the callers begin in their order, and no permit is lost.
    @Test func callersThatComeAndLeave() async throws {
        try await race { sim in
            var random = sim.random
            let limit = Int.random(in: 1...3, using: &random)
            let limiter = AdaptiveLimiter(minimum: limit, maximum: limit, random: { 0.99 })
            let (calls, begun) = (OrderRecorder<Int>(), OrderRecorder<Int>())
            let running = Locked(0)
            await withTaskGroup { group in
                for number in 0..<8 {
                    let delay = Int.random(in: 0...3, using: &random)
                    let leaves = Int.random(in: 0..<3, using: &random) == 0
                    group.addTask {
                        let call = Task {
                            try await Task.sleep(for: .milliseconds(50 * delay))
                            calls.record(number)
                            try await limiter.run {
                                begun.record(number)
                                let count = running.withLock { running in
                                    running += 1
                                    return running
                                }
                                sim.expect(count <= limit, "\(count) calls run")
                                defer { running.withLock { $0 -= 1 } }
                                try await Task.sleep(for: .milliseconds(100))
                            }
                        }
                        if leaves { sim.atAnyPoint { call.cancel() } }
                        let result = await call.result
                        guard case .failure(let error) = result else { return }
                        sim.expect(leaves || error is ConcurrencyLimitError, "only a cancelled or refused caller fails")
                    }
                }
            }
            if limit == 1 {
                let all = begun.events
                sim.expect(calls.events.filter { all.contains($0) } == all, "in the order of the calls")
            }
            sim.expect(limiter.running == 0 && limiter.waiterCount == 0, "nothing is left")
            try await limiter.run {}
        }
    }

    /// A permit is granted in the moment in which its caller is cancelled: another caller gets it.
    @Test func aPermitThatIsGrantedToACancelledCallerIsNotLost() async throws {
        try await race { sim in
            let limiter = AdaptiveLimiter(minimum: 1, maximum: 1, random: { 0.99 })
            let holder = Task { try await limiter.run { await Task.yield() } }
            let leaver = Task { try await limiter.run {} }
            let waiter = Task { try await limiter.run {} }
            sim.atAnyPoint { leaver.cancel() }
            try await holder.value
            _ = await leaver.result
            try await waiter.value
            sim.expect(limiter.running == 0 && limiter.waiterCount == 0, "nothing is left")
        }
    }
}
