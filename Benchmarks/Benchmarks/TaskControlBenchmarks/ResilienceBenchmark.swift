import Benchmark
import TaskControl
import TaskControlResilience

/// What a deadline and a policy add to a call that succeeds.
func registerResilience() {
    Benchmark.row("withDeadline, inherited") {
        var row = Row(
            primitive: "`withDeadline(in: .seconds(100)) { }` inside an earlier deadline",
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
        row.target = .nanosecondsBeyond(atMost: 30)
        return row
    }
    Benchmark.row("withPolicy, five parts") {
        let policy = ResiliencePolicy(
            concurrency: AsyncSemaphore(value: 100),
            rate: RateLimiter(rate: 1_000_000_000, burst: 1_000_000_000),
            throttle: ClientThrottle(),
            breaker: CircuitBreaker(),
            retry: RetryPolicy()
        )
        func direct() async -> Duration { await time { try await service.answer($0) } }
        func protected() async -> Duration {
            await time { number in try await withPolicy(policy) { try await service.answer(number) } }
        }
        var row = Row(
            primitive: "`withPolicy(five parts) { }`, success at once",
            baseline: "`await operation()`",
            turns: await Turns.take(operations: calls, baseline: direct, primitive: protected)
        )
        row.target = .nanosecondsBeyond(atMost: 300)
        row.allocations = (
            await Heap.allocations(calls) { _ = await direct() },
            await Heap.allocations(calls) { _ = await protected() }
        )
        return row
    }
}

private let calls = Scale.tasks * 10
private let service: any Service = Echo()
private let late = Deadline(in: .seconds(3_600))

/// What the compiler does not see through.
private protocol Service: Sendable {
    func answer(_ number: Int) async throws -> Int
}

private struct Echo: Service {
    func answer(_ number: Int) async throws -> Int { number }
}

private func time(_ call: (Int) async throws -> Int) async -> Duration {
    await ContinuousClock().measure {
        for number in 0..<calls { _ = try? await call(number) }
    }
}

/// The deadline is set once, for all calls.
private func inDeadline(_ call: (Int) async throws -> Int) async -> Duration {
    (try? await withDeadline(in: .seconds(600)) { await time(call) }) ?? .zero
}
