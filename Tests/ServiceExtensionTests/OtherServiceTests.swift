import TaskControl
import TaskControlSupervision
import TaskControlTesting
import Testing

// Services of a library that this package does not know, with the public API of owners, supervisors and plans alone: this target has no access
// to `package` declarations. The services of swift-service-lifecycle are in TaskControlSupervision itself, behind the trait ServiceLifecycle.

private protocol OtherService: Sendable {
    /// Runs until `stop` returns, or until the caller is cancelled.
    func run(until stop: @escaping @Sendable () async throws -> Void) async throws
}

private struct OwnerService: OtherService {
    let owner: any TaskOwner
    let grace: Duration
    let clock: any Clock<Duration>

    func run(until stop: @escaping @Sendable () async throws -> Void) async throws {
        do {
            try await stop()
        } catch {
            await owner.shutdown(grace: .zero, clock: clock)
            throw error
        }
        await owner.shutdown(grace: grace, clock: clock)
    }
}

private struct SupervisorService: OtherService {
    let supervisor: Supervisor

    func run(until stop: @escaping @Sendable () async throws -> Void) async throws {
        try await supervisor.run { try? await stop() }
    }
}

private struct PlanService: OtherService {
    let plan: ShutdownPlan

    func run(until stop: @escaping @Sendable () async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await stop()) } catch { result = .failure(error) }
        try await plan.shutdown()
        try result.get()
    }
}

@Suite(.timeLimit(.minutes(15)))
struct OtherServiceTests {
    private let clock = TestClock()
    private let log = OrderRecorder<String>()
    private let stop = Gate()

    private func start(_ service: some OtherService) -> Task<Void, any Error> {
        Task { [stop] in try await service.run { try await stop.wait() } }
    }

    @Test func anOwnerIsAService() async throws {
        let (lifetime, started) = (AsyncLifetime(name: "caches"), Gate())
        lifetime.addTask { [log] in
            started.open()
            if (try? await Gate().wait()) == nil { log.record("cancelled") }
        }
        try await started.wait()
        let run = start(OwnerService(owner: lifetime, grace: .seconds(5), clock: clock))
        stop.open()
        try await clock.waitForSleepers()
        #expect(log.events.isEmpty)
        await clock.advance(by: .seconds(5))
        try await run.value
        #expect(log.events == ["cancelled"])
    }

    @Test func aSupervisorIsAService() async throws {
        let supervisor = Supervisor(clock: clock)
        let works = ["a", "b"].map { name in
            supervisor.keepRunning(name) { [log] run in
                run.markReady()
                await run.waitForStop()
                log.record(name)
            }
        }
        let run = start(SupervisorService(supervisor: supervisor))
        for work in works { try await work.waitUntilReady() }
        stop.open()
        try await run.value
        #expect(log.events == ["b", "a"])
    }

    @Test func aPlanIsAService() async throws {
        let plan = ShutdownPlan(
            clock: clock,
            steps: ["flush", "close"].map { name in
                .operation(name, grace: .seconds(1)) { [log] in log.record(name) }
            }
        )
        let run = start(PlanService(plan: plan))
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(log.events == ["flush", "close"])
    }
}
