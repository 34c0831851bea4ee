internal import TaskControl

/// The registration of a message or a task that is under way: decreases a ``Level`` by one, and increases it again when
/// `end()` is called or the registration is deallocated. (The operation of a task that is cancelled before it starts
/// never runs, and so never calls `end()`.)
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

/// The reply to a request, before and after it has arrived. The first result that arrives is kept; later results are
/// ignored.
final class PendingReply<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var gate: Gate?
    }

    private let state = Locked(State())

    /// Returns the result; `nil` if it has not arrived yet. In this case, its arrival opens the gate. A later call of
    /// this function replaces the gate.
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

    /// Waits for the result on behalf of a node that has sent the request or handles it. Waits longer while the node is
    /// paused.
    ///
    /// - Parameters:
    ///   - incarnation: The run of the node that waits (see ``Incarnation``); `nil` for a client that is not a node.
    ///   - network: The network of the node.
    /// - Throws: `CancellationError` if the caller is cancelled, or the node has crashed.
    func wait(as incarnation: Incarnation?, in network: NetworkStorage) async throws -> Result<Value, any Error> {
        try await network.perform(as: incarnation, on: incarnation?.node) { gate in
            if let result = result(orOpening: gate) { return result }
            try await gate.wait()
            return nil
        }
    }
}
