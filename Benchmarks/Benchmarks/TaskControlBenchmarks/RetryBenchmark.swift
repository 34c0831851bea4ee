import Benchmark
import TaskControl
import TaskControlTesting

/// Registers the cost of being prepared for a failure that does not come, and the cost of delays in virtual time.
func registerRetry() {
    Benchmark.row("retry, success at first attempt") {
        await Row.withoutAllocation(
            atMost: 50,
            "`retry(attempts: 3, backoff: …) { try await client.f() }`, success at once",
            retried,
            beyond: "`try await client.f()`",
            direct,
            operations: calls
        )
    }
    guard Simulation.isSupported else { return }
    Benchmark.row("retry, a virtual hour") {
        var row = Row(
            primitive: "`simulate`, a virtual hour of `retry`, from 50 ms doubling to 20 s",
            baseline: "\(attemptsInAnHour) times `Task.yield()`",
            turns: await Turns.take(
                operations: 1,
                baseline: {
                    await ContinuousClock().measure { for _ in 0..<attemptsInAnHour { await Task.yield() } }
                },
                primitive: {
                    ContinuousClock().measure {
                        _ = try? simulate(seed: 1) { sim in
                            let backoff = RetryBackoff.exponential(base: .milliseconds(50)).capped(at: .seconds(20))
                            try? await retry(attempts: attemptsInAnHour, backoff: backoff) {
                                throw Failure()
                            }
                            precondition(sim.now >= .seconds(3_600), "This is not an hour.")
                        }
                    }
                }
            )
        )
        row.target = .nanoseconds(atMost: 10_000_000)
        return row
    }
}

private struct Failure: Error {}

/// The number of attempts in an hour: the delays are 20 s, except the first nine.
private let attemptsInAnHour = 190

private let calls = Scale.tasks * 10

/// A client that the caller's compiler can't optimize through, as is usual of clients: it could leave out the way back to the caller's executor.
private protocol Client: Sendable {
    func fetch(_ number: Int) async throws -> Int
}

private struct Echo: Client {
    func fetch(_ number: Int) async throws -> Int {
        if number < 0 { throw Failure() }
        return number
    }
}

private struct Patient: Client {
    func fetch(_ number: Int) async throws -> Int {
        await Task.yield()
        return number
    }
}

private let client: any Client = Scale.rounds > 0 ? Echo() : Patient()

private let direct: @Sendable () async -> Duration = {
    let client = client
    return await ContinuousClock().measure {
        for number in 0..<calls { _ = try? await client.fetch(number) }
    }
}

private let retried: @Sendable () async -> Duration = {
    let client = client
    return await ContinuousClock().measure {
        for number in 0..<calls {
            _ = try? await retry(attempts: 3, backoff: .exponential(base: .seconds(1))) {
                try await client.fetch(number)
            }
        }
    }
}
