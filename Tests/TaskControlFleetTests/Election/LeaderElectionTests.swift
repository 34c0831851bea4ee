import TaskControl
import TaskControlFleet
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct LeaderElectionTests {
    @Test func theFirstCandidateLeadsAndTheNextFollowsWhenItEnds() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let (one, other) = (AsyncLifetime(), AsyncLifetime())
            let first = LeaderElection("scheduler", in: memory, timeToLive: .seconds(10), holder: "one")
            let second = LeaderElection("scheduler", in: memory, timeToLive: .seconds(10), holder: "other")
            sim.expect(first.state == .idle, "it does not take part")
            let work = first.lead(in: one) { _ in try await Gate().wait() }
            try await work.waitUntilReady()
            let token = try await first.leader()?.token
            sim.expect(token.map { first.state == .leader($0) } ?? false, "the state has the token of the leader")
            let next = second.lead(in: other) { _ in try await Gate().wait() }
            try await Task.sleep(for: .seconds(60))
            sim.expect(second.state == .candidate, "one leader at a time")
            sim.expect(try await second.leader()?.holder == "one", "all see the leader")
            one.close()
            try await next.waitUntilReady()
            sim.expect(sim.now < .seconds(61), "the next one does not wait for the end of the lease")
            sim.expect(try await first.leader()?.holder == "other", "the leader is the other one")
            other.close()
            try await one.drain()
            try await other.drain()
            sim.expect(first.state == .idle && second.state == .idle, "both have left")
            sim.expect(try await memory.line("lease/scheduler/").isEmpty, "the line is empty")
        }
    }

    @Test func aLeaderWithoutContactIsACandidateBeforeTheNextOneLeads() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let store = FaultyStore(memory)
            let (one, other, end) = (AsyncLifetime(), AsyncLifetime(), Gate())
            let first = LeaderElection("scheduler", in: store, timeToLive: .seconds(10))
            let second = LeaderElection("scheduler", in: memory, timeToLive: .seconds(10))
            // A leader that ignores its cancellation.
            let work = first.lead(in: one) { _ in
                if end.isOpen { try await Gate().wait() }
                await end.waitIgnoringCancellation()
            }
            try await work.waitUntilReady()
            let next = second.lead(in: other) { _ in
                sim.expect(first.state == .candidate, "the former leader knows that it is none")
                try await Gate().wait()
            }
            try await Task.sleep(for: .seconds(2))
            store.fail { _ in .hang }
            let time = sim.now
            try await next.waitUntilReady()
            sim.expect(sim.now - time <= .seconds(11), "a dead leader is replaced in time")
            store.fail { _ in .none }
            end.open()
            try await Task.sleep(for: .seconds(30))
            sim.expect(first.state == .candidate, "it is a candidate again")
            other.close()
            try await Task.sleep(for: .seconds(1))
            if case .leader = first.state {} else { sim.expect(false, "it is elected again") }
            one.close()
            try await one.drain()
            try await other.drain()
        }
    }

    @Test func aCandidateThatIsAskedToStopLeavesBeforeItsGraceIsOver() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let (one, other) = (AsyncLifetime(), AsyncLifetime())
            let first = LeaderElection("scheduler", in: memory, timeToLive: .seconds(10))
            let second = LeaderElection("scheduler", in: memory, timeToLive: .seconds(10))
            let work = first.lead(in: one) { _ in try await Gate().wait() }
            try await work.waitUntilReady()
            let candidate = second.lead(in: other, grace: .seconds(60)) { _ in
                sim.expect(false, "a candidate that was asked to stop does not lead")
            }
            try await Task.sleep(for: .seconds(1))
            sim.expect(try await memory.line("lease/scheduler/").count == 2, "both are in the line")
            let stop = Task { await other.shutdown(grace: .seconds(120)) }
            try await Task.sleep(for: .seconds(1))
            sim.expect(try await memory.line("lease/scheduler/").count == 1, "the candidate has left the line")
            sim.expect(second.state == .idle, "it does not take part any more")
            one.close()
            try await one.drain()
            _ = await stop.value
            for await _ in candidate.states {}
            sim.expect(sim.now < .seconds(3), "the grace was not needed")
        }
    }

    @Test func theStatesOfATermAreInOrder() async throws {
        try await inVirtualTime { sim in
            let (memory, lifetime, states) = (MemoryStore(), AsyncLifetime(), OrderRecorder<LeaderElection.State>())
            let current = LeaderElection("scheduler", in: memory)
            let stream = current.states
            let reader = Task { for await state in stream { states.record(state) } }
            let runs = Locked(0)
            let work = current.lead(in: lifetime, backoff: .fixed(.seconds(1))) { _ in
                let run = runs.withLock { runs in
                    runs += 1
                    return runs
                }
                if run == 1 { throw MarkedError("first") }
            }
            for await _ in work.states {}
            try await lifetime.drain()
            try await states.waitForEvents(count: 9)
            let kinds = states.events.map { if case .leader = $0 { "leader" } else { "\($0)" } }
            let term = ["candidate", "leader", "candidate", "idle"]
            sim.expect(kinds == ["idle"] + term + term, "two terms follow each other")
            sim.expect(
                current.state == .idle && runs.withLock(\.self) == 2,
                "an operation that returns is the last one"
            )
            reader.cancel()
            await reader.value
        }
    }
}
