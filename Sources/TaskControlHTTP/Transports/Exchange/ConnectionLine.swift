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

/// The waits of an attempt before its request can be sent: first for the parts of a policy around the exchange, then for
/// a connection of the transport. A hedge is a second exchange of the same attempt.
final class ConnectionWait: Sendable {
    private struct State {
        var isWaiting = false
        var isSent = false
        var hasEnded = false
        var wasConnected = false
    }

    private let state = Locked(State())

    /// Whether no exchange has come as far as a connection: all have waited for the parts around them, or have ended
    /// without a connection.
    var wasInVain: Bool {
        state.withLock { $0.isWaiting && !$0.isSent || $0.hasEnded && !$0.wasConnected }
    }

    /// Records that an exchange enters the parts around it.
    func begin() { state.withLock { $0.isWaiting = true } }

    /// Records that an exchange is passed to the transport.
    func send() { state.withLock { $0.isSent = true } }

    func didEnd(wasConnected: Bool) {
        state.withLock {
            $0.hasEnded = true
            $0.wasConnected = $0.wasConnected || wasConnected
        }
    }
}
