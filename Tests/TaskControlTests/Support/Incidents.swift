@testable import TaskControl

/// What was reported to diagnostics by the tests that run now. Each looks for its own, by an error that is only its own.
final class Incidents: Sendable {
    static let shared = Incidents()

    private let state = Locked<[(incident: TaskIncident, name: String?)]>([])

    private init() {
        Diagnostics.observe { [state] incident, name in state.withLock { $0.append((incident, name)) } }
    }

    var drops: Int {
        state.withLock { incidents in
            incidents.filter { if case .droppedWithoutOwner = $0.incident { true } else { false } }.count
        }
    }

    var names: [String] { state.withLock { $0.compactMap(\.name) } }

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

/// An error that belongs to one test.
struct MarkedError: Error, Equatable {
    let mark: String

    init(_ mark: String = #function) {
        self.mark = mark
    }
}
