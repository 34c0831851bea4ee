import TaskControlTesting

@testable import TaskControl

/// Keeps the events that it is looking for, whoever causes them.
final class Collector: TaskObserver {
    private let filter: @Sendable (TaskEvent) -> Bool
    private let recorder = OrderRecorder<TaskEvent>()

    init(_ filter: @escaping @Sendable (TaskEvent) -> Bool) {
        self.filter = filter
    }

    var events: [TaskEvent] { recorder.events }

    /// Waits until the events are as they should be.
    func wait(until isDone: ([TaskEvent]) -> Bool) async throws { try await recorder.wait(until: isDone) }

    func receive(_ event: TaskEvent) {
        if filter(event) { recorder.record(event) }
    }
}

extension OrderRecorder where Event == TaskEvent {
    /// Waits until what has been recorded is as it should be.
    func wait(until isDone: ([TaskEvent]) -> Bool) async throws {
        var count = events.count
        while !isDone(events) {
            count += 1
            try await waitForEvents(count: count)
        }
    }
}
