import TaskControlTesting

@testable import TaskControl

/// What was reported to diagnostics by the tests that run now. Each looks for its own, by an error that is only its own.
final class Incidents: Sendable {
    static let shared = Incidents()

    /// Where is noted what is reported now: a drop by whoever lets go of the task, an error by the task that threw it.
    @TaskLocal private static var witness: OrderRecorder<TaskIncident>?

    private let state = Locked<[(incident: TaskIncident, name: String?)]>([])

    private init() {
        Diagnostics.observe { [state] incident, name in
            Self.witness?.record(incident)
            state.withLock { $0.append((incident, name)) }
        }
    }

    /// What `body` reports, with the tasks that it starts; and nobody else.
    func reported(by body: () async -> Void) async -> Reported {
        let witness = OrderRecorder<TaskIncident>()
        await Self.$witness.withValue(witness, operation: body)
        return Reported(incidents: witness.events)
    }

    struct Reported {
        let incidents: [TaskIncident]

        var drops: Int {
            incidents.filter { if case .droppedWithoutOwner = $0 { true } else { false } }.count
        }

        /// Callbacks that came when the wait for them was over.
        var excess: [ExcessCallback] {
            incidents.compactMap { if case .excessCallback(_, let excess, _) = $0 { excess } else { nil } }
        }

        var dropped: Int {
            incidents.filter { if case .droppedContinuation = $0 { true } else { false } }.count
        }

        /// Where a `CancellationError` came from that nobody handled.
        var cancellationErrors: [String] {
            incidents.compactMap {
                if case .unhandledError(is CancellationError, let origin) = $0 { origin.description } else { nil }
            }
        }
    }

    func unhandled(_ error: MarkedError) -> [String?] {
        state.withLock { incidents in
            incidents.compactMap { incident, name in
                if case .unhandledError(let other as MarkedError, _) = incident, other == error {
                    .some(name)
                } else {
                    nil
                }
            }
        }
    }

    func abandoned(_ error: MarkedError) -> [String?] {
        state.withLock { incidents in
            incidents.compactMap { incident, name in
                if case .abandonedWorkEnded(let other as MarkedError, _) = incident, other == error {
                    .some(name)
                } else {
                    nil
                }
            }
        }
    }

    func afterCancellation(_ error: MarkedError) -> Int {
        state.withLock { incidents in
            incidents.filter { incident, _ in
                if case .errorAfterCancellation(let other as MarkedError, _) = incident {
                    other == error
                } else {
                    false
                }
            }.count
        }
    }
}

/// A task's name as the task finds it: not at all, where the platform does not let it be read.
func readable(_ name: String) -> String? {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { name } else { nil }
}

/// An error that belongs to one test.
struct MarkedError: Error, Hashable {
    let mark: String

    init(_ mark: String = #function) {
        self.mark = mark
    }
}
