import TaskControl
import TaskControlTesting

/// The requests and connections that a server has seen so far.
final class ServerLog: Sendable {
    struct Entry: Sendable {
        /// Connections, of all time.
        var accepted = 0
        /// Connections that neither side has ended.
        var live = 0
        /// The heads of all requests, in the order of their arrival.
        var requests: [RawRequest] = []
        /// Whether the server has closed the socket that it listened on, with its last act.
        var isClosed = false
    }

    private struct State {
        var entry = Entry()
        var waiters: [(condition: @Sendable (Entry) -> Bool, gate: Gate)] = []
    }

    private let state = Locked(State())

    /// As it is now.
    var now: Entry { state.withLock(\.entry) }

    /// Waits until a condition holds.
    ///
    /// - Throws: `CancellationError`.
    func wait(until condition: @escaping @Sendable (Entry) -> Bool) async throws {
        let gate = Gate()
        let holds = state.withLock { state in
            if condition(state.entry) { return true }
            state.waiters.append((condition, gate))
            return false
        }
        if !holds { try await gate.wait() }
    }

    func accepted() -> Int {
        change {
            $0.accepted += 1
            $0.live += 1
            return $0.accepted
        }
    }

    func received(_ request: RawRequest) { change { $0.requests.append(request) } }

    func ended() { change { $0.live -= 1 } }

    func closed() { change { $0.isClosed = true } }

    private func change<Value>(_ body: (inout Entry) -> Value) -> Value {
        let (value, gates) = state.withLock { state in
            let value = body(&state.entry)
            let entry = state.entry
            let woken = state.waiters.filter { $0.condition(entry) }.map(\.gate)
            state.waiters.removeAll { $0.condition(entry) }
            return (value, woken)
        }
        for gate in gates { gate.open() }
        return value
    }
}
