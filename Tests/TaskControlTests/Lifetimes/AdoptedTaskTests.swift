import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Tasks that run already when a store receives them.
@Suite(.timeLimit(.minutes(15)))
struct AdoptedTaskTests {
    @Test func aStoreCancelsABoundTaskByItsKeyAndForgetsItAtItsEnd() async throws {
        let store = TaskStore<String>()
        let task = Task { () throws -> Int in
            try await Gate().wait()
            return 1
        }.bind(to: store, forKey: "a")
        #expect(store.taskIsRunning(forKey: "a") && store.count == 1)
        store.cancelTask(forKey: "a")
        #expect(task.isCancelled)
        await #expect(throws: CancellationError.self) { try await task.value }
        try await store.drain()
        #expect(store.isEmpty)
    }

    @Test func aBoundTaskReplacesTheTasksOfItsKeyUnlessToldNotTo() async {
        let store = TaskStore<String>()
        let first = store.addTask(forKey: "a") { try await Gate().wait() }
        let second = Task { try await Gate().wait() }.bind(to: store, forKey: "a")
        #expect(first.isCancelled)
        let third = Task { try await Gate().wait() }.bind(to: store, forKey: "a", cancelsPrevious: false)
        #expect(!second.isCancelled && store.count == 2)
        store.addTask(forKey: "a") {}
        #expect(second.isCancelled && third.isCancelled)
    }

    @Test func aTaskThatJoinsABoundTaskOfAnotherTypeWaitsForItsEnd() async throws {
        let (store, end) = (TaskStore<String>(), Gate())
        let bound = Task { () throws -> String in
            await end.waitIgnoringCancellation()
            throw MarkedError()
        }.bind(to: store, forKey: "a")
        let joined = store.addTask(forKey: "a", duplicateKeyBehavior: .preferPrevious) { Issue.record("ran") }
        let other = store.addTask(forKey: "a", duplicateKeyBehavior: .preferPrevious) { Issue.record("ran") }
        end.open()
        await joined.value
        other.cancel()
        await other.value
        await #expect(throws: MarkedError()) { try await bound.value }
        try await store.drain()
    }

    @Test func aBoundTaskTakesAPlaceOfAStoreWithALimit() async throws {
        let (store, end) = (TaskStore<Int>(maxConcurrentTasks: 1), Gate())
        store.addTask(forKey: 0) { await end.waitIgnoringCancellation() }
        let (ended, started) = (Gate(), Gate())
        Task { await ended.waitIgnoringCancellation() }.bind(to: store, forKey: 1)
        let last = store.addTask(forKey: 2) { started.open() }
        #expect(store.taskIsWaiting(forKey: 2) && store.taskIsRunning(forKey: 1))
        end.open()
        try await store.drain(forKey: 0)
        #expect(store.taskIsWaiting(forKey: 2) && !started.isOpen)
        ended.open()
        await last.value
        #expect(started.isOpen)
    }

    @Test func aClosedStoreCancelsABoundTask() async {
        let store = TaskStore<Int>()
        store.close()
        #expect(Task { try await Gate().wait() }.bind(to: store, forKey: 1).isCancelled)
    }
}
