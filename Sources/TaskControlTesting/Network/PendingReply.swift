internal import TaskControl

/// Counts a message or a task that is under way, until `end()` is called. Deallocation also ends it, because the operation of a task that
/// is cancelled before it starts never runs.
final class UnderWay: Sendable {
    private let level: Locked<Level<Int>?>

    init(_ level: Level<Int>) {
        self.level = Locked(level)
        level.move { $0 -= 1 }
    }

    func end() {
        let level = level.withLock { level in
            defer { level = nil }
            return level
        }
        level?.move { $0 += 1 }
    }

    deinit { end() }
}

/// The reply to a request. The first result counts; later ones are ignored.
final class PendingReply<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var gate: Gate?
    }

    private let state = Locked(State())

    /// Returns the result; `nil` if it has not arrived: then its arrival opens the gate.
    func result(orOpening gate: Gate) -> Result<Value, any Error>? {
        state.withLock { state in
            state.gate = gate
            return state.result
        }
    }

    func arrive(_ result: Result<Value, any Error>) {
        state.withLock { state -> Gate? in
            if state.result == nil { state.result = result }
            return state.gate
        }?
        .open()
    }

    /// Waits for the result in an incarnation of a node: throws if the node crashes, and waits longer while the node is paused.
    func wait(as incarnation: Incarnation?, in network: NetworkStorage) async throws -> Result<Value, any Error> {
        try await network.perform(as: incarnation, on: incarnation?.node) { gate in
            if let result = result(orOpening: gate) { return result }
            try await gate.wait()
            return nil
        }
    }
}
