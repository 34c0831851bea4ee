#if ServiceLifecycle
import Logging
import ServiceLifecycle
import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing
import UnixSignals

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Owners, supervisors and plans in real service groups.
@Suite(.timeLimit(.minutes(15)))
struct ServiceGroupTests {
    private let clock = TestClock()
    private let log = OrderRecorder<String>()
    private static let silent = Logger(label: "group") { _ in SwiftLogNoOpLogHandler() }

    private func makeGroup(_ services: any Service...) -> ServiceGroup {
        ServiceGroup(services: services, logger: Self.silent)
    }

    private func start(_ group: ServiceGroup) -> Task<Void, any Error> { Task { try await group.run() } }

    /// Adds a task that waits for its cancellation or the gate.
    private func addTask(_ name: String, to owner: AsyncLifetime, until gate: Gate = Gate()) {
        owner.addTask { [log] in
            let wasCancelled = (try? await gate.wait()) == nil
            log.record(wasCancelled ? "\(name) is cancelled" : "\(name) completes")
        }
    }

    /// Adds a child that is ready at once, opens the gate when it is asked to stop, and waits for its cancellation.
    @discardableResult
    private func add(
        _ name: String,
        to supervisor: Supervisor,
        grace: Duration = .zero,
        opening asked: Gate = Gate()
    ) -> SupervisedWork {
        supervisor.keepRunning(name, grace: grace) { [log] run in
            run.markReady()
            await run.waitForStop()
            asked.open()
            try? await Gate().wait()
            log.record("\(name) is cancelled")
        }
    }

    /// Fails when its gate opens.
    private struct FailingService: Service {
        let gate: Gate

        func run() async throws {
            try await gate.wait()
            throw MarkedError("service")
        }
    }

    // MARK: Owners

    @Test func tasksOfAnOwnerMayEndWithinTheGrace() async throws {
        let (lifetime, gate) = (AsyncLifetime(name: "caches"), Gate())
        addTask("task", to: lifetime, until: gate)
        let service = lifetime.service(grace: .seconds(5), clock: clock)
        #expect("\(service)" == #"AsyncLifetime "caches""#)
        let group = makeGroup(service)
        let run = start(group)
        await group.triggerGracefulShutdown()
        try await clock.waitForSleepers()
        #expect(log.events.isEmpty)
        gate.open()
        try await run.value
        #expect(log.events == ["task completes"])
        // Closed: the task is refused.
        addTask("late", to: lifetime)
        try await lifetime.drain()
        #expect(log.events == ["task completes"])
    }

    @Test func tasksOfAnOwnerAreCancelledAfterTheGrace() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        addTask("task", to: lifetime, until: gate)
        try await gate.waitForWaiters()
        let group = makeGroup(lifetime.service(grace: .seconds(5), clock: clock))
        let run = start(group)
        await group.triggerGracefulShutdown()
        try await clock.waitForSleepers()
        #expect(log.events.isEmpty)
        await clock.advance(by: .seconds(5))
        try await run.value
        #expect(log.events == ["task is cancelled"])
    }

    @Test func aCancelledGroupGivesOwnersNoGrace() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        addTask("task", to: lifetime, until: gate)
        try await gate.waitForWaiters()
        let run = start(makeGroup(lifetime.service(grace: .seconds(5), clock: clock)))
        run.cancel()
        // The clock stands still.
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(log.events == ["task is cancelled"])
    }

    @Test func aCancellationEndsTheGraceOfAGracefulShutdown() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        addTask("task", to: lifetime, until: gate)
        try await gate.waitForWaiters()
        let group = makeGroup(lifetime.service(grace: .seconds(5), clock: clock))
        let run = start(group)
        await group.triggerGracefulShutdown()
        try await clock.waitForSleepers()
        run.cancel()
        try await run.value
        #expect(log.events == ["task is cancelled"])
    }

    // MARK: Supervisors

    @Test func servicesAndChildrenStopInReverseOrder() async throws {
        let (lifetime, gate, supervisor) = (AsyncLifetime(), Gate(), Supervisor(clock: clock))
        addTask("task", to: lifetime, until: gate)
        try await gate.waitForWaiters()
        let works = ["a", "b", "c"].map { add($0, to: supervisor) }
        let group = makeGroup(lifetime.service(grace: .zero, clock: clock), supervisor)
        let run = start(group)
        for work in works { try await work.waitUntilReady() }
        await group.triggerGracefulShutdown()
        try await run.value
        #expect(log.events == ["c is cancelled", "b is cancelled", "a is cancelled", "task is cancelled"])
    }

    @Test func aChildHasItsGrace() async throws {
        let (supervisor, asked) = (Supervisor(clock: clock), Gate())
        let patient = add("patient", to: supervisor, grace: .seconds(5), opening: asked)
        let group = makeGroup(supervisor)
        let run = start(group)
        try await patient.waitUntilReady()
        await group.triggerGracefulShutdown()
        try await asked.wait()
        #expect(log.events.isEmpty)
        await clock.advance(by: .seconds(5), waking: 1)
        try await run.value
        #expect(log.events == ["patient is cancelled"])
    }

    @Test(arguments: [false, true])
    func aCancelledGroupStopsChildrenWithoutGrace(isShuttingDown: Bool) async throws {
        let (supervisor, asked) = (Supervisor(clock: clock), Gate())
        let first = add("a", to: supervisor, grace: .seconds(5))
        let second = add("b", to: supervisor, grace: .seconds(5), opening: asked)
        let group = makeGroup(supervisor)
        let run = start(group)
        try await first.waitUntilReady()
        try await second.waitUntilReady()
        if isShuttingDown {
            await group.triggerGracefulShutdown()
            try await asked.wait()
        }
        run.cancel()
        // The clock stands still.
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(log.events == ["b is cancelled", "a is cancelled"])
    }

    @Test func aChildThatFailsForGoodTakesTheGroupDown() async throws {
        let (lifetime, gate, crash) = (AsyncLifetime(), Gate(), Gate())
        addTask("task", to: lifetime, until: gate)
        try await gate.waitForWaiters()
        let supervisor = Supervisor(clock: clock)
        supervisor.keepRunning("fragile", restart: .never) { _ in
            try await crash.wait()
            throw MarkedError("child")
        }
        let run = start(makeGroup(lifetime.service(grace: .seconds(5), clock: clock), supervisor))
        crash.open()
        let error = await #expect(throws: SupervisionError.self) { try await run.value }
        #expect(error?.causes.first?.error as? MarkedError == MarkedError("child"))
        #expect(log.events == ["task is cancelled"])
    }

    @Test func aSupervisorWhoseChildrenHaveCompletedReturns() async throws {
        let supervisor = Supervisor(clock: clock)
        supervisor.keepRunning("short", restart: .onFailure) { _ in }
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: supervisor, successTerminationBehavior: .gracefullyShutdownGroup)],
                logger: Self.silent
            )
        )
        try await group.run()
    }

    @Test func aFailingServiceStopsTheOthers() async throws {
        let (lifetime, waiting, crash, supervisor) = (AsyncLifetime(), Gate(), Gate(), Supervisor(clock: clock))
        addTask("task", to: lifetime, until: waiting)
        try await waiting.waitForWaiters()
        let child = add("child", to: supervisor, grace: .seconds(5))
        let plan = ShutdownPlan(
            clock: clock,
            steps: [.operation("flush", grace: .seconds(5)) { [log] in log.record("flush") }]
        )
        let run = start(
            makeGroup(
                lifetime.service(grace: .seconds(5), clock: clock),
                supervisor,
                plan,
                FailingService(gate: crash)
            )
        )
        try await child.waitUntilReady()
        crash.open()
        let error = await #expect(throws: MarkedError.self) { try await run.value }
        #expect(error == MarkedError("service"))
        #expect(log.events.sorted() == ["child is cancelled", "flush", "task is cancelled"])
    }

    // MARK: Plans

    @Test func aPlanIsPerformedAtTheGracefulShutdown() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        addTask("task", to: lifetime, until: gate)
        try await gate.waitForWaiters()
        let plan = ShutdownPlan(
            clock: clock,
            steps: [
                .operation("first", grace: .seconds(1)) { throw MarkedError("first") },
                .owner(lifetime, grace: .zero),
                .operation("last", grace: .seconds(1)) { [log] in log.record("last") },
            ]
        )
        let group = makeGroup(plan)
        let run = start(group)
        #expect(log.events.isEmpty)
        await group.triggerGracefulShutdown()
        let error = await #expect(throws: ShutdownError.self) { try await run.value }
        #expect(error?.failures.map(\.name) == ["first"])
        #expect(log.events == ["task is cancelled", "last"])
    }

    @Test func aCancelledGroupPerformsThePlanWithoutGrace() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        addTask("task", to: lifetime, until: gate)
        try await gate.waitForWaiters()
        let plan = ShutdownPlan(
            clock: clock,
            steps: [
                .owner(lifetime, grace: .seconds(5)),
                .operation("last", grace: .seconds(5)) { [log] in
                    log.record("last, cancelled: \(Task.isCancelled)")
                },
            ]
        )
        let run = start(makeGroup(plan))
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(log.events == ["task is cancelled", "last, cancelled: true"])
    }

    // MARK: Signals

    #if SUBPROCESSES
    /// The documentation's example, in a process that receives SIGTERM from outside of its tasks.
    @Test(.oneProcessAtATime) func aSignalShutsDownInOrder() async throws {
        await #expect(processExitsWith: .success) {
            let (log, waiting) = (OrderRecorder<String>(), Gate())
            let lifetime = AsyncLifetime(name: "caches")
            lifetime.addTask {
                try? await waiting.wait()
                log.record("cache")
            }
            try await waiting.waitForWaiters()
            let supervisor = Supervisor(name: "backend")
            for name in ["database", "queue"] {
                supervisor.keepRunning(name, grace: .seconds(600)) { run in
                    run.markReady()
                    if name == "queue" { kill(getpid(), SIGTERM) }
                    await run.waitForStop()
                    log.record(name)
                }
            }
            let plan = ShutdownPlan(
                steps: [.operation("listener", grace: .seconds(600)) { log.record("listener") }]
            )
            let group = ServiceGroup(
                services: [lifetime.service(grace: .zero), supervisor, plan],
                gracefulShutdownSignals: [.sigterm],
                logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() }
            )
            try await group.run()
            precondition(log.events == ["listener", "queue", "database", "cache"], "\(log.events)")
        }
    }
    #endif
}
#endif
