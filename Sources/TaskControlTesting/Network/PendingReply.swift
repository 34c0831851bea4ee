internal import TaskControl

/// Something that is counted until it ends: at the latest when this is released, as the operation of a task that is cancelled before it starts is.
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

/// The reply to a request, which arrives once: later ones are ignored.
final class PendingReply<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var gate: Gate?
    }

    private let state = Locked(State())

    /// - Returns: `nil`: it has not arrived, and will open the gate.
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

    /// Waits for it as an incarnation of a node, which is ended by its crash, and held.
    func wait(as incarnation: Incarnation?, in network: NetworkStorage) async throws -> Result<Value, any Error> {
        try await network.perform(as: incarnation, on: incarnation?.node) { gate in
            if let result = result(orOpening: gate) { return result }
            try await gate.wait()
            return nil
        }
    }
}
