import TaskControl
import TaskControlResilience
import TaskControlSnapshot
import TaskControlTesting
import TaskControlTrace
import TestSupport
import Testing

/// The policies as snapshots and traces show them, from their events alone.
@Suite(.timeLimit(.minutes(15)))
struct ObservationTests {
    private let clock = TestClock()

    /// Runs a body while a tracker and a recorder observe.
    private func observed(_ body: (TaskTracker, TraceRecorder) async throws -> Void) async throws {
        let (tracker, recorder) = (TaskTracker(), TraceRecorder())
        let observations = [TaskDiagnostics.observe(tracker), TaskDiagnostics.observe(recorder)]
        defer { for observation in observations { observation.end() } }
        try await body(tracker, recorder)
    }

    private func owner(_ name: String, in tracker: TaskTracker) -> TaskSnapshot.Owner? {
        tracker.snapshot().owners.first { $0.name == name }
    }

    /// The line of an owner, without numbers that depend on the time.
    private func line(_ name: String, in tracker: TaskTracker) -> String? {
        tracker.snapshot().description.split(separator: "\n").first { $0.contains("\"\(name)\"") }
            .map { String($0).replacing(/\d+\.\d{3} s/, with: "…").replacing(/#\d+/, with: "#") }
    }

    @Test func anOpenBreakerIsShown() async throws {
        try await observed { tracker, recorder in
            let name = "shown open"
            let breaker = CircuitBreaker(
                name: name,
                failureThreshold: 1,
                minimumCalls: 1,
                openDuration: .seconds(5),
                clock: clock
            )
            #expect(line(name, in: tracker) == "CircuitBreaker \"\(name)\" #, for …")
            await #expect(throws: MarkedError.self) { try await withPolicy(breaker) { throw MarkedError() } }
            #expect(line(name, in: tracker) == "CircuitBreaker \"\(name)\" #, for …, open for …")
            for _ in 0..<2 { await #expect(throws: CallRefusedError.self) { try await withPolicy(breaker) {} } }
            #expect(
                line(name, in: tracker)
                    == "CircuitBreaker \"\(name)\" #, for …, open for …, 2 calls refused, the last … ago"
            )
            await clock.advance(by: .seconds(5))
            try await withPolicy(breaker) {
                guard case .halfOpen = owner(name, in: tracker)?.circuit else {
                    Issue.record("A breaker with a probe is half-open.")
                    return
                }
            }
            let closed = owner(name, in: tracker)
            #expect(closed?.circuit == nil && closed?.refusedCount == 2)
            let trace = recorder.text(as: .perfetto)
            #expect(trace.contains(name))
            for kind in ["circuitOpened", "callRefused", "probing", "circuitClosed"] { #expect(trace.contains(kind)) }
        }
    }

    @Test func aLineOfALimiterIsShown() async throws {
        try await observed { tracker, recorder in
            let (name, clock) = ("shown line", clock)
            let limiter = RateLimiter(name: name, rate: 1, burst: 1, clock: clock)
            #expect(limiter.tryAcquire())
            let log = Collector { $0.ownerName == name && $0.kind == .waiting }
            let observation = TaskDiagnostics.observe(log)
            defer { observation.end() }
            let calls = (0..<2).map { _ in Task { try await limiter.acquire() } }
            try await log.wait { $0.count == 2 }
            #expect(owner(name, in: tracker)?.entries.map(\.phase) == [.waiting, .waiting])
            #expect(!limiter.tryAcquire())
            #expect(owner(name, in: tracker)?.refusedCount == 1)
            await clock.advance(by: .seconds(1), waking: 1)
            await clock.advance(by: .seconds(1), waking: 1)
            for call in calls { try await call.value }
            #expect(owner(name, in: tracker)?.entries.isEmpty == true)
            #expect(recorder.text(as: .perfetto).contains(name))
        }
    }

    @Test func aHedgeIsShown() async throws {
        try await observed { tracker, recorder in
            let (clock, budget) = (clock, RetryBudget())
            let call = Task(name: "shown hedge") {
                try await withHedging(after: .fixed(.seconds(1)), budget: budget, clock: clock) { attempt in
                    if attempt == 1 { try await Gate().wait() }
                }
            }
            await clock.advance(by: .seconds(1), waking: 1)
            try await call.value
            #expect(recorder.text(as: .perfetto).contains("\"withHedging\""))
        }
    }
}
