import TaskControl
import TaskControlTesting
import Testing

@testable import TaskControlSwiftUI

/// The tasks that a view with `task(in:)` cancels when it disappears.
@Suite(.timeLimit(.minutes(15))) @MainActor
struct AddedTasksTests {
    private let view = AddedTasks()
    private let other = AddedTasks()
    private let log = OrderRecorder<String>()

    /// An action that runs until it is cancelled.
    private func action(_ name: String) -> @MainActor () async -> Void {
        { [log] in
            log.record("\(name) begins")
            try? await Gate().wait()
            log.record("\(name) is cancelled")
        }
    }

    @Test func aViewThatDisappearsCancelsItsTasksAndNoOthers() async throws {
        let slot = TaskSlot(behavior: .runConcurrently)
        for name in ["1", "2"] { view.add(to: slot, action(name)) }
        other.add(to: slot, action("other"))
        slot.addTask { [log] in
            log.record("model begins")
            try? await Gate().wait()
            log.record("model is cancelled")
        }
        try await log.waitForEvents(count: 4)
        view.cancelAll()
        try await log.waitForEvents(count: 6)
        #expect(Set(log.events.suffix(2)) == ["1 is cancelled", "2 is cancelled"])
        other.cancelAll()
        try await log.waitForEvents(count: 7)
        #expect(log.events.last == "other is cancelled")
        slot.cancelAll()
        try await slot.drain()
    }

    @Test func aTaskThatStandsForThatOfTheViewIsNotCancelled() async throws {
        let slot = TaskSlot(behavior: .preferPrevious)
        other.add(to: slot, action("other"))
        try await log.waitForEvents(count: 1)
        for name in ["1", "2"] { view.add(to: slot, action(name)) }
        view.cancelAll()
        other.cancelAll()
        try await slot.drain()
        #expect(log.events == ["other begins", "other is cancelled"])
    }

    @Test func tasksOfAViewThatWaitNeverBegin() async throws {
        let slot = TaskSlot(behavior: .wait)
        view.add(to: slot, action("1"))
        other.add(to: slot, action("other"))
        view.add(to: slot, action("2"))
        try await log.waitForEvents(count: 1)
        view.cancelAll()
        try await log.waitForEvents(count: 3)
        #expect(log.events == ["1 begins", "1 is cancelled", "other begins"])
        other.cancelAll()
        try await slot.drain()
        #expect(log.events.last == "other is cancelled")
    }

    @Test func anActionThatHasNotBegunDoesNotBegin() async throws {
        for behavior in [TaskStoreDuplicateKeyBehavior.runConcurrently, .preferPrevious, .cancelPrevious(wait: false)] {
            let slot = TaskSlot(behavior: behavior)
            view.add(to: slot, action("1"))
            view.cancelAll()
            try await slot.drain()
        }
        #expect(log.events.isEmpty)
    }

    @Test func aThousandTasksLeaveNothing() async throws {
        let (slot, clock) = (TaskSlot(behavior: .debounce(for: .seconds(1)), clock: TestClock()), TestClock())
        for _ in 1...1_000 { view.add(to: slot, action("1")) }
        // The one before the last was cancelled when the last was added.
        #expect(view.count <= 2)
        view.cancelAll()
        let present = TaskSlot(behavior: .preferPrevious)
        for number in 1...100 {
            present.addTask { try? await clock.sleep(for: .seconds(1)) }
            view.add(to: present, action("\(number)"))
            try await clock.waitForSleepers(count: 1)
            await clock.advance(by: .seconds(1))
            try await present.drain()
        }
        #expect(view.count <= 1)
        #expect(log.events.isEmpty)
    }
}
