import Benchmark
import TaskControl
import TaskControlResilience

/// Registers the costs that a deadline and a policy add to a call that succeeds.
func registerResilience() {
    Benchmark.row("retry, inherited deadline") {
        await Row.withoutAllocation(
            atMost: 30,
            "`retry { }` with an inherited deadline, success at once",
            { await inDeadline(retried) },
            beyond: "`retry { }` without a deadline",
            { await time(retried) },
            operations: calls
        )
    }
    Benchmark.row("withDeadline, inherited") {
        Row(
            primitive: "`withDeadline(late) { }` inside an earlier deadline",
            baseline: "`await operation()`",
            turns: await Turns.take(
                operations: calls,
                baseline: { await time { try await service.answer($0) } },
                primitive: {
                    await inDeadline { number in
                        try await withDeadline(late) { try await service.answer(number) }
                    }
                }
            )
        )
    }
    Benchmark.row("withPolicy, four parts") {
        let policy = ResiliencePolicy(
            breaker: CircuitBreaker(),
            retry: RetryPolicy(),
            permits: AsyncSemaphore(value: 100),
            rate: RateLimiter(rate: 1_000_000_000, burst: 1_000_000_000)
        )
        @Sendable func direct() async -> Duration { await time { try await service.answer($0) } }
        @Sendable func protected() async -> Duration {
            await time { number in try await withPolicy(policy) { try await service.answer(number) } }
        }
        return await Row.withoutAllocation(
            atMost: 300,
            "`withPolicy(four parts) { }`, success at once",
            protected,
            beyond: "`await operation()`",
            direct,
            operations: calls
        )
    }
}

private let calls = Scale.tasks * 10
private let service: any Service = Echo()
private let late = Deadline(in: .seconds(3_600))

/// A service that the compiler can't optimize through.
private protocol Service: Sendable {
    func answer(_ number: Int) async throws -> Int
}

private struct Echo: Service {
    func answer(_ number: Int) async throws -> Int { number }
}

private func retried(_ number: Int) async throws -> Int {
    try await retry(attempts: 3, backoff: .none) { try await service.answer(number) }
}

private func time(_ call: (Int) async throws -> Int) async -> Duration {
    await ContinuousClock().measure {
        for number in 0..<calls { _ = try? await call(number) }
    }
}

/// Measures all calls within one deadline.
private func inDeadline(_ call: (Int) async throws -> Int) async -> Duration {
    (try? await withDeadline(in: .seconds(600)) { await time(call) }) ?? .zero
}
