internal import TaskControl

/// The registration of a message or a task that is under way, for code that waits until none is. The value of a
/// ``Level`` is the negated number of these registrations: creating a registration decreases it by one, and `end()`, or
/// the deallocation of the registration, increases it by one. The code waits until the value is zero.
///
/// The deallocation matters for a task that is cancelled before it starts: its operation never runs, and so never calls
/// `end()`.
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

    /// The registrations of the tasks of a process, which do not retain them: a registration may end by its deallocation.
    struct List {
        private struct Item { weak var mark: UnderWay? }

        private var items: [Item] = []
        private var limit = 32

        mutating func append(_ mark: UnderWay) {
            if items.count >= limit {
                items.removeAll { $0.mark == nil }
                limit = max(32, 2 * items.count)
            }
            items.append(Item(mark: mark))
        }

        func end() {
            for item in items { item.mark?.end() }
        }
    }
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
    /// - Throws: `CancellationError` if the caller is cancelled, the node has crashed, or, for a client that is not a node,
    ///   the network has ended.
    func wait(as incarnation: Incarnation?, in network: NetworkStorage) async throws -> Result<Value, any Error> {
        try await network.perform(as: incarnation, on: incarnation?.node) { gate in
            if let result = result(orOpening: gate) { return result }
            if incarnation == nil { try await network.waitOutside(for: gate) } else { try await gate.wait() }
            return nil
        }
    }
}
