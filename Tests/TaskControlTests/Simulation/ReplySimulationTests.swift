import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// Replies, late ones, cancellations, limits and the end of the connection in every order.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct ReplySimulationTests {
    private struct Failure: Error, Hashable {
        let text: String
    }

    /// A connection whose reader is another task: replies come in any order, some twice, some never.
    @Test(arguments: [false, true])
    func eachRequestEndsOnceAndLeavesNoEntry(closes: Bool) async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(10_000, inDebug: 200)) { sim in
                let replies = PendingReplies<Int, Int>()
                let (wire, frames) = AsyncStream<Int>.makeStream()
                let reader = Task {
                    for await id in wire {
                        await Task.yield()
                        if id % 5 == 4 { replies.resume(id, throwing: Failure(text: "refused")) }
                        if id % 5 != 3 { replies.resume(id, returning: id * 10) }
                        if id % 2 == 0 {
                            sim.expect(!replies.resume(id, returning: -1), "a second reply is not expected")
                        }
                    }
                    replies.close(throwing: Failure(text: "lost"))
                }
                let callers = (0..<6).map { id in
                    Task {
                        do {
                            let reply = try replies.expect(id)
                            frames.yield(id)
                            await Task.yield()
                            let value = try await withTimeout(.seconds(5)) { try await reply.value }
                            sim.expect(value == id * 10 && id % 5 < 3, "the reply of another request")
                        } catch is CancellationError {
                            sim.expect(Task.isCancelled)
                        } catch is TimeoutError {
                            sim.expect(id % 5 == 3, "only a request without a reply reaches its limit")
                        } catch let failure as Failure {
                            sim.expect(failure.text == "lost" ? closes : id % 5 == 4)
                        }
                    }
                }
                for caller in callers.prefix(2) { sim.cancelAtAnyPoint(caller) }
                if closes { sim.atAnyPoint { frames.finish() } }
                for caller in callers { try await caller.value }
                sim.expect(replies.count == 0, "a caller that has left takes its entry along")
                frames.finish()
                await reader.value
            }
        }
    }

    /// A connection is replaced: the end of the old one fails none of the requests of the new one.
    @Test func theEndOfAConnectionFailsOnlyItsOwnRequests() async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(5_000, inDebug: 100)) { sim in
                let (old, new) = (PendingReplies<Int, Int>(), PendingReplies<Int, Int>())
                let ends = Task { old.close(throwing: Failure(text: "old")) }
                let caller = Task {
                    let reply = try new.expect(1)
                    sim.atAnyPoint { new.resume(1, returning: 7) }
                    return try await reply.value
                }
                sim.expect(try await caller.value == 7)
                await ends.value
            }
        }
    }
}
