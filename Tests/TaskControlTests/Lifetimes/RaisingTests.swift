import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// A waiter raises the tasks that it waits for. A task that must be raised waits until it has been, so a task that is not raised runs into the time
/// limit.
@Suite(.timeLimit(.minutes(15)))
struct RaisingTests {
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTaskThatWaitsForItsTurnRaisesAllThatIsBeforeIt() async throws {
        let (store, log) = (TaskStore<String>(), OrderRecorder<Int>())
        for number in 0..<3 {
            store.addTask(forKey: "key", duplicateKeyBehavior: .wait, priority: .background) {
                await untilRaised(to: .high)
                log.record(number)
            }
        }
        let last = store.addTask(forKey: "key", duplicateKeyBehavior: .wait, priority: .high) { log.record(3) }
        await last.value
        #expect(log.events == [0, 1, 2, 3])
    }

    /// A task that awaits a task that has parked already raises it, and so the tasks before it.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aRiseOfTheWaitingTaskIsPassedOn() async throws {
        let store = TaskStore<String>()
        let hasParked = Gate()
        store.addTask(forKey: "key", priority: .background) {
            await untilRaised(to: .utility)
            hasParked.open()
            await untilRaised(to: .high)
        }
        let waiting = store.addTask(forKey: "key", duplicateKeyBehavior: .wait, priority: .utility) {}
        try? await hasParked.wait()
        waiting.escalatePriority(to: .high)
        await waiting.value
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func whoeverDrainsRaisesWhatIsThere() async throws {
        let lifetime = AsyncLifetime()
        for _ in 0..<3 {
            AsyncTask(priority: .background) { await untilRaised(to: .high) }.bind(to: lifetime)
        }
        try await Task(priority: .high) { try await lifetime.drain() }.value
        #expect(lifetime.isEmpty)
    }

    /// Those that are cancelled and still run are waited for too.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func shutdownRaisesWhatItWaitsFor() async {
        let lifetime = AsyncLifetime()
        AsyncTask(priority: .background) { await untilRaised(to: .high) }.bind(to: lifetime)
        _ = await Task(priority: .high) { await lifetime.shutdown(grace: .zero) }.value
        #expect(lifetime.isEmpty)
    }
}
