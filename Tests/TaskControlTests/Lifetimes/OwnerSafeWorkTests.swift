import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// `run(for:)` and `forEach(_:for:)`: the owner may go while its work is under way.
@Suite(.timeLimit(.minutes(15)))
struct OwnerSafeWorkTests {
    @TaskLocal static var request = "none"

    @MainActor final class Model {
        let lifetime: AsyncLifetime
        let probe: DeinitProbe
        var items: [Int] = []
        var failures: [MarkedError?] = []

        init(_ gone: Gate = Gate(), lifetime: AsyncLifetime = AsyncLifetime()) {
            probe = DeinitProbe(gone)
            self.lifetime = lifetime
        }

        @discardableResult
        func load(_ work: @escaping @Sendable () async throws -> [Int]) -> Task<DeliveryOutcome, Never> {
            lifetime.run(for: self) {
                try await work()
            } deliver: { model, items in
                MainActor.assertIsolated()
                model.items = items
            } onError: { model, error in
                model.failures.append(error as? MarkedError)
            }
        }

        @discardableResult
        func follow(_ stream: AsyncStream<Int>, _ handled: OrderRecorder<Int>, first: Gate = Gate()) -> Task<
            DeliveryOutcome, Never
        > {
            lifetime.forEach(stream, for: self) { model, item in
                model.items.append(item)
                await Task { handled.record(item) }.value
                first.open()
            }
        }
    }

    actor Store {
        let lifetime: AsyncLifetime
        let probe: DeinitProbe
        var items: [Int] = []
        var failure: MarkedError?

        init(_ gone: Gate = Gate(), lifetime: AsyncLifetime = AsyncLifetime()) {
            probe = DeinitProbe(gone)
            self.lifetime = lifetime
        }

        func load(_ work: @escaping @Sendable () async throws -> [Int]) -> Task<DeliveryOutcome, Never> {
            lifetime.run(for: self) {
                try await work()
            } deliver: { store, items in
                store.assertIsolated()
                store.items = items
            } onError: { store, error in
                store.failure = error as? MarkedError
            }
        }

        func fail(_ error: MarkedError?) {
            failure = error
        }

        func follow(_ stream: AsyncStream<Int>) -> Task<DeliveryOutcome, Never> {
            lifetime.forEach(stream, for: self) { store, item in
                store.assertIsolated()
                store.items.append(item)
            }
        }
    }

    @MainActor @Test func theResultIsDeliveredToTheOwnerOnTheCallersActor() async {
        let model = Model()
        _ = await model.load { [1, 2] }.value
        #expect(model.items == [1, 2] && model.lifetime.isEmpty)
    }

    @MainActor @Test func theOwnerDeinitialisesWhileTheWorkIsParkedAndTheWorkIsCancelled() async {
        let (gone, started, ended) = (Gate(), Gate(), Gate())
        var model: Model? = Model(gone)
        model?.load {
            started.open()
            try? await Gate().wait()
            if Task.isCancelled { ended.open() }
            return []
        }
        try? await started.wait()
        model = nil
        #expect(gone.isOpen, "nothing held it")
        try? await ended.wait()
    }

    @MainActor @Test func withALifetimeThatLivesElsewhereTheResultIsDiscarded() async {
        let (gone, started, gate, lifetime) = (Gate(), Gate(), Gate(), AsyncLifetime())
        var model: Model? = Model(gone, lifetime: lifetime)
        let task = model!.load {
            started.open()
            try? await gate.wait()
            return [1]
        }
        try? await started.wait()
        model = nil
        #expect(gone.isOpen && !task.isCancelled)
        gate.open()
        _ = await task.value
        #expect(lifetime.isEmpty)
    }

    @MainActor @Test func anErrorIsHandedToTheOwner() async {
        let model = Model()
        _ = await model.load { throw MarkedError("work") }.value
        #expect(model.items == [] && model.failures == [MarkedError("work")])
    }

    @MainActor @Test func anErrorWithoutAHandlerGoesToDiagnosticsAndOneWithoutAnOwnerConcernsNobody() async {
        let (incidents, lifetime, gate, started) = (Incidents.shared, AsyncLifetime(), Gate(), Gate())
        let (orphan, unheard) = (MarkedError("orphan"), MarkedError("unheard"))
        var model: Model? = Model(lifetime: lifetime)
        let task = model!.load {
            started.open()
            try? await gate.wait()
            throw orphan
        }
        try? await started.wait()
        model = nil
        gate.open()
        _ = await task.value
        let owner = Model()
        _ = await lifetime.run(for: owner, name: "unheard") {
            throw unheard
        } deliver: { (_, _: Int) in
        }.value
        #expect(incidents.unhandled(orphan).isEmpty && incidents.unhandled(unheard) == [readable("unheard")])
    }

    @MainActor @Test func nothingIsDeliveredOnceTheTaskIsCancelled() async {
        let (gate, started, model) = (Gate(), Gate(), Model())
        let delivered = model.load {
            started.open()
            await gate.waitIgnoringCancellation()
            return [1]
        }
        let failed = model.load {
            await gate.waitIgnoringCancellation()
            throw MarkedError()
        }
        try? await started.wait()
        model.lifetime.cancelAll()
        gate.open()
        _ = await delivered.value
        _ = await failed.value
        #expect(model.items == [] && model.failures == [])
    }

    /// The work has ended and its delivery waits for the main actor, on which the cancellation comes first.
    @MainActor @Test func aCancellationOnTheOwnersActorComesBeforeADeliveryThatWaitsForThatActor() async {
        let (model, ended) = (Model(), Gate())
        let task = model.load {
            ended.open()
            return [1]
        }
        // Nothing is delivered before this suspends, so it does not.
        blockThread { ended.isOpen }
        task.cancel()
        _ = await task.value
        #expect(model.items == [])
    }

    @Test func anActorIsHandedItsResultInItsOwnIsolation() async {
        let store = Store()
        _ = await store.load { [1, 2] }.value
        _ = await store.load { throw MarkedError("work") }.value
        #expect(await store.items == [1, 2])
        #expect(await store.failure == MarkedError("work"))
    }

    @Test func nothingIsDeliveredToAnActorOnceTheTaskIsCancelled() async {
        let (store, gate, started) = (Store(), Gate(), Gate())
        let delivered = await store.load {
            started.open()
            await gate.waitIgnoringCancellation()
            return [1]
        }
        let failed = await store.load {
            await gate.waitIgnoringCancellation()
            throw MarkedError()
        }
        try? await started.wait()
        store.lifetime.cancelAll()
        gate.open()
        _ = await delivered.value
        _ = await failed.value
        #expect(await store.items == [])
        #expect(await store.failure == nil)
    }

    @Test func anErrorOfAnActorsWorkThatNobodyHandlesGoesToDiagnostics() async {
        let (incidents, store) = (Incidents.shared, Store())
        let (work, element) = (MarkedError("actor's work"), MarkedError("actor's element"))
        let stream = AsyncThrowingStream<Int, any Error> { $0.finish(throwing: element) }
        _ = await store.lifetime.run(for: store, name: "work") {
            throw work
        } deliver: { (_, _: Int) in
        }.value
        _ = await store.lifetime.forEach(stream, for: store, name: "element") { _, _ in }.value
        #expect(incidents.unhandled(work) == [readable("work")])
        #expect(incidents.unhandled(element) == [readable("element")])
    }

    @Test func anErrorThatEndsAnActorsSequenceIsHandedToIt() async {
        let store = Store()
        let stream = AsyncThrowingStream<Int, any Error> { $0.finish(throwing: MarkedError("ends")) }
        _ = await store.lifetime.forEach(stream, for: store) { _, _ in
        } onError: { store, error in
            store.fail(error as? MarkedError)
        }.value
        #expect(await store.failure == MarkedError("ends"))
    }

    @Test func thePriorityThatIsGivenIsThatOfTheWork() async {
        let (store, log) = (Store(), OrderRecorder<Bool>())
        _ = await store.lifetime.run(for: store, priority: .low) {
            log.record(Task.basePriority == .low)
        } deliver: { _, _ in
        }.value
        _ = await store.lifetime.forEach(
            AsyncStream {
                $0.yield(1); $0.finish()
            },
            for: store,
            priority: .low
        ) { _, _ in
            log.record(Task.basePriority == .low)
        }.value
        #expect(log.events == [true, true])
    }

    @Test func anActorDeinitialisesWhileItsWorkIsParked() async {
        let (gone, started, ended) = (Gate(), Gate(), Gate())
        var store: Store? = Store(gone)
        let task = await store!.load {
            started.open()
            try? await Gate().wait()
            ended.open()
            return []
        }
        try? await started.wait()
        store = nil
        try? await gone.wait()
        try? await ended.wait()
        _ = await task.value
    }

    @Test func withALifetimeThatLivesElsewhereTheResultForAnActorIsDiscarded() async {
        let (gone, started, gate, lifetime, log) = (Gate(), Gate(), Gate(), AsyncLifetime(), OrderRecorder<Int>())
        var store: Store? = Store(gone, lifetime: lifetime)
        let task = lifetime.run(for: store!) {
            started.open()
            try? await gate.wait()
            return 1
        } deliver: { _, number in
            log.record(number)
        }
        try? await started.wait()
        store = nil
        try? await gone.wait()
        gate.open()
        _ = await task.value
        #expect(log.events == [] && !task.isCancelled && lifetime.isEmpty)
    }

    @MainActor @Test func aCancellationErrorOfWorkThatWasNotCancelledGoesToDiagnosticsIfNobodyHandlesIt() async {
        let (model, store) = (Model(), Store())
        let reported = await Incidents.shared.reported {
            _ = await model.lifetime.run(for: model) {
                throw CancellationError()
            } deliver: { (_, _: Int) in
            }.value
            _ = await store.lifetime.run(for: store) {
                throw CancellationError()
            } deliver: { (_, _: Int) in
            }.value
        }
        #expect(reported.cancellationErrors == ["AsyncLifetime.run", "AsyncLifetime.run"])
    }

    @MainActor @Test func workRunsOffTheActorWithTheCallersTaskLocalsAndPriority() async {
        let (model, log) = (Model(), OrderRecorder<String>())
        _ = await Task(priority: .low) {
            await Self.$request.withValue("42") {
                await model.lifetime.run(for: model, name: "loader") {
                    log.record("\(Self.request) \(Task.basePriority == .low) \(Diagnostics.currentTaskName ?? "-")")
                } deliver: { _, _ in
                    log.record("delivered")
                }.value
            }
        }.value
        #expect(log.events == ["42 true \(readable("loader") ?? "-")", "delivered"])
    }
}
