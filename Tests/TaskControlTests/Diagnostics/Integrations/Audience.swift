#if Metrics || Tracing
import TaskControlTesting

@testable import TaskControl

/// Hands to an observer what a test causes, and not what others cause at the same time.
final class Audience: TaskObserver {
    private static let shared: Audience = {
        let audience = Audience()
        _ = Incidents.shared
        AsyncGuard.addObserver(audience)
        return audience
    }()

    private struct Seat: Sendable {
        let observer: any TaskObserver
        let recorder = OrderRecorder<TaskEvent>()
    }

    @TaskLocal private static var seat: Seat?

    func receive(_ event: TaskEvent) {
        guard let seat = Self.seat else { return }
        seat.observer.receive(event)
        // What is recorded has been received.
        seat.recorder.record(event)
    }

    /// - Parameter body: Is handed what has been received, to wait for it.
    static func of(
        _ observer: some TaskObserver,
        _ body: (OrderRecorder<TaskEvent>) async throws -> Void
    ) async rethrows {
        _ = shared
        let seat = Seat(observer: observer)
        try await $seat.withValue(seat) { try await body(seat.recorder) }
    }
}

extension TaskEvent {
    /// A made-up one.
    static func at(
        _ seconds: Int,
        _ primitive: Primitive,
        _ kind: Kind,
        _ stage: Stage = .goesOn,
        subject: UInt64? = 1,
        ownerName: String? = nil,
        taskName: String? = nil,
        key: String? = nil,
        error: String? = nil,
        detail: String? = nil,
        status: Int? = nil,
        isCancelled: Bool = false,
        isMistake: Bool = false
    ) -> TaskEvent {
        var event = TaskEvent(
            primitive,
            kind,
            stage,
            owner: Identity(99),
            subject: subject.map { Identity($0) },
            ownerName: ownerName,
            taskName: taskName,
            key: key,
            error: error,
            detail: detail,
            status: status
        )
        event.time = .seconds(seconds)
        event.task = .current
        event.isCancelled = isCancelled
        event.isMistake = isMistake
        return event
    }
}
#endif
