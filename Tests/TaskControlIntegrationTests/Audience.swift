#if Metrics || Tracing
import TaskControlTesting
import TestSupport

@_spi(Observers) @testable import TaskControl

/// Hands to an observer what a test causes, and not what others cause at the same time.
final class Audience: TaskObserver {
    private static let shared: Audience = {
        let audience = Audience()
        Diagnostics.keepQuiet()
        TaskDiagnostics.install(audience)
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
        // A recorded event has been received.
        seat.recorder.record(event)
    }

    /// - Parameter body: Receives the log of received events, to wait for them.
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
        _ change: Change = .noted,
        subject: UInt64? = 1,
        ownerName: String? = nil,
        taskName: String? = nil,
        key: String? = nil,
        error: String? = nil,
        detail: String? = nil,
        status: Int? = nil,
        isCancelled: Bool = false,
        severity: Severity = .debug
    ) -> TaskEvent {
        var event = TaskEvent(
            primitive,
            kind,
            change,
            owner: Identity(99),
            subject: subject.map { Identity($0) },
            ownerName: ownerName,
            taskName: taskName,
            key: key,
            detail: detail,
            status: status
        )
        event.time = .seconds(seconds)
        event.task = .current
        event.error = error
        event.isCancelled = isCancelled
        event.severity = severity
        return event
    }
}

extension TaskEvent.Primitive {
    /// Declared by TaskControlHTTP.
    static let http = Self("HTTP", [.call])

    /// Those of this library, and an unknown one.
    static var examples: [Self] {
        [
            .asyncTask, .asyncLifetime, .taskBag, .identifiableTaskBag, .taskStore, .fifoQueue, .concurrentQueue,
            .actorQueue, .cancellableQueue,
            .withSingleFlight, .singleFlight, .withTimeout, .withDetachedTimeout, .retry, .asyncSemaphore,
            .withCancellableContinuation, .http, Self(rawValue: "unknown"),
        ]
    }
}

extension TaskEvent.Kind {
    /// Declared by TaskControlHTTP.
    static let refreshing = Self("refreshing")

    /// Those of this library, and an unknown one.
    static var examples: [Self] {
        [
            .created, .deallocated, .closed, .cancelledAll, .draining, .drained, .waiting, .started, .running,
            .cancelled,
            .completed, .failed, .skipped, .joined, .left, .unhandledError, .errorAfterCancellation, .workFailed,
            .added, .adopted,
            .duplicate, .refused, .boundToLifetime, .stored, .detached, .dropped, .enqueued, .forgotten, .retrying,
            .succeeded,
            .gaveUp, .timedOut, .abandonedWorkEnded, .acquired, .released, .continuationDropped, .resumedAgain,
            .resumedAfterCancellation, .resumedAfterFailure, .refreshing, Self("rejected"), Self("refreshed"),
            Self("unknown"),
        ]
    }
}

extension TaskEvent.Change {
    static var examples: [Self] {
        TaskEvent.Phase.allCases.flatMap { [.began($0), .entered($0)] } + [.noted]
            + TaskEvent.Outcome.allCases.map { .ended($0) }
    }
}
#endif
