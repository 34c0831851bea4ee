import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// `run(forKey:for:)` of a store: work by key, whose owner may go while it is under way.
@Suite(.timeLimit(.minutes(15)))
struct StoreOwnerWorkTests {
    @TaskLocal static var request = "none"

    @MainActor final class Model {
        let tasks: TaskStore<String>
        let probe: DeinitProbe
        var found: [Int] = []
        var failures: [MarkedError?] = []

        init(_ gone: Gate = Gate(), tasks: TaskStore<String> = TaskStore()) {
            probe = DeinitProbe(gone)
            self.tasks = tasks
        }

        @discardableResult
        func search(
            _ behavior: TaskStoreDuplicateKeyBehavior = .cancelPrevious(wait: false),
            _ work: @escaping @Sendable () async throws -> Int
        ) -> Task<DeliveryOutcome, Never> {
            tasks.run(forKey: "search", duplicateKeyBehavior: behavior, for: self) {
                try await work()
            } deliver: { model, number in
                MainActor.assertIsolated()
                model.found.append(number)
            } onError: { model, error in
                MainActor.assertIsolated()
                model.failures.append(error as? MarkedError)
            }
        }
    }

    actor Cache {
        let tasks = TaskStore<String>()
        let probe: DeinitProbe
        var numbers: [Int] = []
        var failure: MarkedError?

        init(_ gone: Gate = Gate()) {
            probe = DeinitProbe(gone)
        }

        nonisolated func fill(_ work: @escaping @Sendable () async throws -> Int) -> Task<DeliveryOutcome, Never> {
            tasks.run(forKey: "fill", for: self) {
                try await work()
            } deliver: { cache, number in
                cache.assertIsolated()
                cache.numbers.append(number)
            } onError: { cache, error in
                cache.assertIsolated()
                cache.failure = error as? MarkedError
            }
        }
    }

    @MainActor @Test func theResultIsDeliveredToTheOwnerOnTheCallersActor() async {
        let model = Model()
        let task = model.search { 1 }
        #expect(model.tasks.taskIsRunning(forKey: "search"))
        _ = await task.value
        #expect(model.found == [1] && model.tasks.count == 0)
    }

    @MainActor @Test func theOwnerDeinitialisesWhileTheWorkIsParkedAndTheWorkIsCancelled() async {
        let (gone, started, ended) = (Gate(), Gate(), Gate())
        var model: Model? = Model(gone)
        model?.search {
            started.open()
            try? await Gate().wait()
            if Task.isCancelled { ended.open() }
            return 1
        }
        try? await started.wait()
        model = nil
        #expect(gone.isOpen, "nothing held it")
        try? await ended.wait()
    }

    @MainActor @Test func withAStoreThatLivesElsewhereTheResultIsDiscarded() async {
        let (gone, started, gate, tasks) = (Gate(), Gate(), Gate(), TaskStore<String>())
        var model: Model? = Model(gone, tasks: tasks)
        let task = model!.search {
            started.open()
            try? await gate.wait()
            return 1
        }
        try? await started.wait()
        model = nil
        #expect(gone.isOpen && !task.isCancelled)
        gate.open()
        _ = await task.value
        #expect(tasks.count == 0)
    }

    @MainActor @Test func aNewerOneOfTheKeyKeepsAnOldResultAndAnOldErrorFromBeingDelivered() async {
        let (model, gate) = (Model(), Gate())
        let (first, second) = (Gate(), Gate())
        let slow = model.search {
            first.open()
            await gate.waitIgnoringCancellation()
            return 1
        }
        try? await first.wait()
        let failing = model.search {
            second.open()
            await gate.waitIgnoringCancellation()
            throw MarkedError()
        }
        try? await second.wait()
        _ = await model.search { 3 }.value
        gate.open()
        _ = await slow.value
        _ = await failing.value
        #expect(model.found == [3] && model.failures == [])
    }

    @MainActor @Test func whatIsOvertakenInItsQuietTimeNeverWorks() async throws {
        let clock = TestClock()
        let model = Model(tasks: TaskStore(clock: clock))
        let overtaken = model.search(.debounce(for: .seconds(1))) { 1 }
        try await clock.waitForSleepers()
        let newest = model.search(.debounce(for: .seconds(1))) { 2 }
        _ = await overtaken.value
        try await clock.waitForSleepers()
        #expect(model.found == [])
        await clock.advance(by: .seconds(1))
        _ = await newest.value
        #expect(model.found == [2])
    }

    @MainActor @Test func whereTheOneThatIsThereIsPreferredNothingOfTheNewCallIsDone() async {
        let (model, gate) = (Model(), Gate())
        let first = model.search(.preferPrevious) {
            try await gate.wait()
            return 1
        }
        let second = model.search(.preferPrevious) { 2 }
        gate.open()
        if case .delivered = await first.value {} else { Issue.record("It has not been delivered.") }
        #expect(second == first && model.found == [1])
    }

    @MainActor @Test func anErrorIsHandedToTheOwner() async {
        let model = Model()
        _ = await model.search { throw MarkedError("work") }.value
        #expect(model.found == [] && model.failures == [MarkedError("work")])
    }

    @MainActor @Test func anErrorWithoutAHandlerGoesToDiagnosticsAndOneWithoutAnOwnerConcernsNobody() async {
        let (incidents, tasks, gate, started) = (Incidents.shared, TaskStore<String>(), Gate(), Gate())
        let (orphan, unheard) = (MarkedError("store's orphan"), MarkedError("store's unheard"))
        var model: Model? = Model(tasks: tasks)
        let task = model!.search {
            started.open()
            try? await gate.wait()
            throw orphan
        }
        try? await started.wait()
        model = nil
        gate.open()
        _ = await task.value
        let owner = Model()
        _ = await tasks.run(forKey: "unheard", for: owner, name: "unheard") {
            throw unheard
        } deliver: { (_, _: Int) in
        }.value
        #expect(incidents.unhandled(orphan).isEmpty && incidents.unhandled(unheard) == [readable("unheard")])
    }

    @Test func anActorIsHandedItsResultAndItsErrorInItsOwnIsolation() async {
        let cache = Cache()
        _ = await cache.fill { 1 }.value
        _ = await cache.fill { throw MarkedError("work") }.value
        #expect(await cache.numbers == [1])
        #expect(await cache.failure == MarkedError("work"))
    }

    @Test func anActorDeinitialisesWhileItsWorkIsParked() async {
        let (gone, started, ended) = (Gate(), Gate(), Gate())
        var cache: Cache? = Cache(gone)
        let task = cache!.fill {
            started.open()
            try? await Gate().wait()
            ended.open()
            return 1
        }
        try? await started.wait()
        cache = nil
        try? await gone.wait()
        try? await ended.wait()
        _ = await task.value
    }

    @Test func nothingIsDeliveredToAnActorOnceItsKeyIsCancelled() async {
        let (cache, gate, started) = (Cache(), Gate(), Gate())
        let task = cache.fill {
            started.open()
            await gate.waitIgnoringCancellation()
            return 1
        }
        try? await started.wait()
        cache.tasks.cancelTask(forKey: "fill")
        gate.open()
        _ = await task.value
        #expect(await cache.numbers == [])
    }

    @MainActor @Test func workRunsOffTheActorWithTheCallersTaskLocalsNameAndPriority() async {
        let (model, log) = (Model(), OrderRecorder<String>())
        _ = await Task(priority: .low) {
            await Self.$request.withValue("42") {
                await model.tasks.run(forKey: "load", for: model, name: "loader") {
                    let name = readable(Diagnostics.currentTaskName ?? "") ?? "loader"
                    log.record("\(Self.request) \(Task.basePriority == .low) \(name)")
                    return 1
                } deliver: { _, _ in
                    log.record(Self.request)
                }.value
            }
        }.value
        #expect(log.events == ["42 true loader", "42"])
    }
}
