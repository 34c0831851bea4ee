package import TaskControl
package import TaskControlTesting

/// Records the events that pass a filter, from all tests.
package final class Collector: TaskObserver {
    private let filter: @Sendable (TaskEvent) -> Bool
    private let recorder = OrderRecorder<TaskEvent>()

    package init(_ filter: @escaping @Sendable (TaskEvent) -> Bool) {
        self.filter = filter
    }

    package var events: [TaskEvent] { recorder.events }

    /// Waits until the events satisfy a condition.
    package func wait(until isDone: ([TaskEvent]) -> Bool) async throws { try await recorder.wait(until: isDone) }

    package func receive(_ event: TaskEvent) {
        if filter(event) { recorder.record(event) }
    }
}

extension OrderRecorder where Event == TaskEvent {
    /// Waits until the recorded events satisfy a condition.
    package func wait(until isDone: ([TaskEvent]) -> Bool) async throws {
        var count = events.count
        while !isDone(events) {
            count += 1
            try await waitForEvents(count: count)
        }
    }
}
