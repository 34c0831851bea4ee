import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Returns a new object. The compiler warns of one that is created only for an owner that is not retained.
private func created<Object>(_ object: () -> Object) -> Object { object() }

/// A closure without an isolation receives results on any thread. If the call was made on the main actor, that is a mistake, which is reported once.
@Suite(.timeLimit(.minutes(15)))
struct UnisolatedDeliveryTests {
    private final class Reports: TaskObserver {
        let events = Locked<[TaskEvent]>([])

        func receive(_ event: TaskEvent) {
            if event.kind == .deliveredAnywhere { events.withLock { $0.append(event) } }
        }

        func texts(of type: Any.Type) -> [String] {
            events.withLock { $0 }.compactMap(\.detail).filter { $0.contains("\(type)") }
        }
    }

    /// A class without an isolation that the main actor uses, like an `ObservableObject` of a program in the language mode 5. It is Sendable here
    /// because the language mode 6 asks for that.
    private class Model: @unchecked Sendable {
        var items: [Int] = []
        let lifetime = AsyncLifetime()
        let store = TaskStore<Int>()
        let slot = TaskSlot()

        func load() -> Task<DeliveryOutcome, Never> {
            lifetime.run(for: self) {
                [1]
            } deliver: { model, items in
                model.items = items
            }
        }
    }

    private func reports(_ body: () async -> Void) async -> Reports {
        let reports = Reports()
        let observation = TaskDiagnostics.observe(reports)
        await body()
        observation.end()
        return reports
    }

    @Test @MainActor func aDeliveryWithoutAnIsolationToACallOnTheMainActorIsReportedOncePerType() async {
        final class First: Model, @unchecked Sendable {}
        let model = First()
        let reports = await reports {
            for _ in 0..<3 { _ = await model.load().value }
        }
        #expect(reports.texts(of: Model.self).count <= 1)
        #expect(model.items == [1])
    }

    @Test @MainActor func eachFormReportsIt() async {
        final class Presenter: @unchecked Sendable {
            let lifetime = AsyncLifetime()
            let store = TaskStore<Int>()
            let slot = TaskSlot()

            func run() -> Task<DeliveryOutcome, Never> {
                lifetime.run(for: self) {
                    1
                } deliver: { _, _ in
                }
            }
            func inStore() -> Task<DeliveryOutcome, Never> {
                store.run(forKey: 1, for: self) {
                    1
                } deliver: { _, _ in
                }
            }
            func inSlot() -> Task<DeliveryOutcome, Never> {
                slot.run(for: self) {
                    1
                } deliver: { _, _ in
                }
            }
            func follow() -> Task<DeliveryOutcome, Never> {
                lifetime.forEach(AsyncStream<Int> { $0.finish() }, for: self) { _, _ in }
            }
        }
        let screen = Presenter()
        let reports = await reports {
            for _ in 0..<2 {
                for task in [screen.run(), screen.inStore(), screen.inSlot(), screen.follow()] { _ = await task.value }
            }
        }
        let texts = reports.texts(of: Presenter.self)
        #expect(texts.count == 4)
        for name in ["AsyncLifetime.run", "TaskStore.run", "TaskSlot.run", "AsyncLifetime.forEach"] {
            #expect(texts.contains { $0.hasPrefix(name) }, "\(name)")
        }
    }

    @Test @MainActor func aClosureThatStatesItsIsolationIsNotReported() async {
        final class Stated: @unchecked Sendable {
            let lifetime = AsyncLifetime()

            func load() -> Task<DeliveryOutcome, Never> {
                lifetime.run(for: self) {
                    1
                } deliver: { @MainActor _, _ in
                    MainActor.assertIsolated()
                }
            }
        }
        let reports = await reports { _ = await created({ Stated() }).load().value }
        #expect(reports.texts(of: Stated.self).isEmpty)
    }

    @Test @MainActor func aModelOfTheMainActorIsNotReported() async {
        @MainActor final class Isolated {
            let lifetime = AsyncLifetime()

            func load() -> Task<DeliveryOutcome, Never> {
                lifetime.run(for: self) {
                    1
                } deliver: { _, _ in
                }
            }
        }
        let reports = await reports { _ = await created({ Isolated() }).load().value }
        #expect(reports.texts(of: Isolated.self).isEmpty)
    }

    @Test func aServiceThatIsCalledFromThePoolIsNotReported() async {
        final class Service: Sendable {
            let lifetime = AsyncLifetime()

            func load() -> Task<DeliveryOutcome, Never> {
                lifetime.run(for: self) {
                    1
                } deliver: { _, _ in
                }
            }
        }
        let reports = await reports { @concurrent in _ = await created({ Service() }).load().value }
        #expect(reports.texts(of: Service.self).isEmpty)
    }
}
