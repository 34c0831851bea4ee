import FlyingFox
import FlyingSocks
import Foundation

/// The connection that a request came in on, to learn that its client has gone while the answer is still held back.
///
/// FlyingFox notices that only when it writes, which is too late here: a held answer is never written. It doesn't hand the connection to a
/// handler either, but it says from which port the client speaks, and in this process one socket has that port at its other end.
struct ClientConnection: Sendable {
    private let socket: Socket

    init?(of request: HTTPRequest) {
        guard let port = request.remoteAddress?.port else { return nil }
        let sockets = (0..<min(max(getdtablesize(), 0), 4096)).lazy.map {
            Socket(file: Socket.FileDescriptor(rawValue: $0))
        }
        guard let socket = sockets.first(where: { (try? $0.remotePeer())?.port == port }) else { return nil }
        self.socket = socket
    }

    /// Returns when the client has closed the connection. To be cancelled, and awaited, before the connection is used for anything else.
    ///
    /// A client that waits for its answer sends nothing, so the socket becomes readable when the client leaves and not before.
    func waitForClose(in pool: some AsyncSocketPool) async throws {
        while !isClosed {
            do {
                try await pool.suspendSocket(socket, untilReadyFor: .read)
            } catch SocketError.disconnected {
                return
            }
        }
    }

    /// Whether the client has closed the connection. Peeks at the received bytes without reading them: the end means closed, "would block" an open
    /// connection.
    private var isClosed: Bool {
        var byte: UInt8 = 0
        let count = recv(socket.file.rawValue, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
    }
}

extension HTTPRequest.Address {
    fileprivate var port: UInt16? {
        switch self {
        case .ip4(_, let port), .ip6(_, let port): port
        case .unix: nil
        }
    }
}

extension Socket.Address {
    fileprivate var port: UInt16? {
        switch self {
        case .ip4(_, let port), .ip6(_, let port): port
        case .unix: nil
        }
    }
}
