internal import Foundation

/// The exchanges of a transport that have, or wait for, one of its connections.
final class ConnectionLine: Sendable {
    /// The place of an exchange.
    struct Place {
        fileprivate let origin: Origin
        fileprivate let number: Int
        fileprivate let wait: ConnectionWait
    }

    private let limit: Int
    private let lines = Locked<[Origin: ConnectionLineStateMachine]>([:])

    /// Creates a line.
    ///
    /// - Parameter limit: The largest number of connections of the transport to one server.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Records that an exchange begins.
    ///
    /// - Returns: The place of the exchange; `nil` if its request does not state where its wait is reported.
    func enter(_ request: HTTPTransportRequest) -> Place? {
        guard let wait = request.connectionWait, let origin = request.request.url.flatMap(Origin.init) else {
            return nil
        }
        let number = lines.withLock { $0[origin, default: ConnectionLineStateMachine(limit: limit)].enter() }
        return Place(origin: origin, number: number, wait: wait)
    }

    /// Records that an exchange has ended.
    func leave(_ place: Place?) {
        guard let place else { return }
        let wasConnected = lines.withLock { lines in
            guard var line = lines[place.origin] else { return true }
            defer { lines[place.origin] = line.isEmpty ? nil : line }
            return line.leave(place.number)
        }
        place.wait.didEnd(wasConnected: wasConnected)
    }
}

/// The result of the wait of an attempt for a connection. A hedge is a second exchange of the same attempt.
final class ConnectionWait: Sendable {
    private let state = Locked((hasEnded: false, wasConnected: false))

    /// Whether an exchange of the attempt has ended, and none has had a connection.
    var wasInVain: Bool { state.withLock { $0.hasEnded && !$0.wasConnected } }

    func didEnd(wasConnected: Bool) {
        state.withLock { $0 = (true, $0.wasConnected || wasConnected) }
    }
}
