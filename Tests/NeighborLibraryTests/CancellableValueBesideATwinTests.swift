import NeighborLibrary
import TaskControl
import TaskControlTesting
import Testing

/// `cancellableValue` in a file that also imports a module with the same properties, as files that import swift-concurrency-extras do.
@Suite(.timeLimit(.minutes(15)))
struct CancellableValueBesideATwinTests {
    @Test func thePropertiesOfTheOtherModuleAreUsed() async throws {
        let calls = OrderRecorder<String>()
        try await Neighbor.$onCall.withValue({ calls.record("neighbor") }) {
            let certain = await Task { 1 }.cancellableValue
            let fallible = try await Task<Int, any Error> { 2 }.cancellableValue
            #expect([certain, fallible] == [1, 2])
        }
        #expect(calls.events == ["neighbor", "neighbor"])
    }

    @Test func aTaskOfAStoreIsCancelledWithItsCaller() async throws {
        let (store, started, cancelled) = (TaskStore<String>(), Gate(), Gate())
        let caller = Task {
            await store.addTask(forKey: "load") {
                started.open()
                do { try await Gate().wait() } catch { cancelled.open() }
            }.cancellableValue
        }
        try await started.wait()
        caller.cancel()
        try await cancelled.wait()
        await caller.value
    }
}
