import TaskControlTesting
import TestSupport

@testable import TaskControl

/// The reports to diagnostics of the tests that run now. Each test looks for its own reports, by an error that only it throws.
final class Incidents: TaskObserver {
    static let shared = Incidents()

    /// The place where reports are noted: a drop by the thread that releases the task, an error by the task that threw it.
    @TaskLocal private static var witness: OrderRecorder<TaskEvent>?

    private static let kinds: Set<TaskEvent.Kind> = [
        .unhandledError, .errorAfterCancellation, .dropped, .abandonedWorkEnded, .continuationDropped, .resumedAgain,
        .resumedAfterCancellation, .resumedAfterFailure,
    ]

    private let recorder = OrderRecorder<TaskEvent>()

    private init() {
        Diagnostics.keepQuiet()
        TaskDiagnostics.install(self)
    }

    func receive(_ event: TaskEvent) {
        guard Self.kinds.contains(event.kind) else { return }
        Self.witness?.record(event)
        recorder.record(event)
    }

    /// Returns the reports of `body` and of the tasks that it starts, and no others.
    func reported(by body: () async -> Void) async -> Reported {
        let witness = OrderRecorder<TaskEvent>()
        await Self.$witness.withValue(witness, operation: body)
        return Reported(incidents: witness.events)
    }

    struct Reported {
        let incidents: [TaskEvent]

        var drops: Int {
            incidents.filter { $0.kind == .dropped }.count
        }

        /// Callbacks that came when the wait for them was over.
        var excess: [ExcessCallback] {
            incidents.compactMap { event in
                switch event.kind {
                case .resumedAgain: .again
                case .resumedAfterCancellation: .afterCancellation
                case .resumedAfterFailure: .afterFailure
                default: nil
                }
            }
        }

        var dropped: Int {
            incidents.filter { $0.kind == .continuationDropped }.count
        }

        /// The origins of each `CancellationError` that was not handled.
        var cancellationErrors: [String] {
            incidents.compactMap { event in
                event.kind == .unhandledError && event.error == "CancellationError()" ? event.detail : nil
            }
        }
    }

    func unhandled(_ error: MarkedError) -> [String?] {
        events(.unhandledError, error).map(\.taskName)
    }

    func abandoned(_ error: MarkedError) -> [String?] {
        events(.abandonedWorkEnded, error).map(\.taskName)
    }

    func afterCancellation(_ error: MarkedError) -> Int {
        events(.errorAfterCancellation, error).count
    }

    /// Waits until what has been reported is as it should be.
    func wait(until isReported: (Incidents) -> Bool) async throws {
        try await recorder.wait { _ in isReported(self) }
    }

    private func events(_ kind: TaskEvent.Kind, _ error: MarkedError) -> [TaskEvent] {
        recorder.events.filter { $0.kind == kind && $0.error == "\(error)" }
    }
}

/// A task's name as the task finds it: not at all, where the platform does not let it be read.
func readable(_ name: String) -> String? {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { name } else { nil }
}
