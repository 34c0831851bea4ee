import Foundation
import Testing

@testable import fleet_workload

#if os(Linux)
/// The proxy between members finds its clients in the tables of Linux.
@Suite(.serialized, .timeLimit(.minutes(1))) struct PeerProxyTests {
    @Test func bytesThatAreHeldBackArriveAfterThePartition() throws {
        let connection = try Connection()
        connection.proxy.block([.init(from: 1, to: 0)])
        #expect(connection.answer("late"))
        connection.proxy.waitUntilHeldBack()
        connection.proxy.block([])
        #expect(Connection.read(connection.client) == "late")
        connection.close()
        connection.proxy.waitUntilClosed()
    }

    /// The numbers of closed sockets belong to the sockets that are opened next. They would receive the bytes that were held back, and would be shut down.
    @Test func aConnectionIsNotClosedWhileItsBytesAreHeldBack() throws {
        let connection = try Connection()
        connection.proxy.block([.init(from: 1, to: 0)])
        #expect(connection.answer("held back"))
        connection.proxy.waitUntilHeldBack()
        // The other direction ends.
        #expect(close(connection.client) == 0)
        #expect(Connection.read(connection.accepted) == "")
        var sockets: [Int32] = []
        for _ in 0..<64 {
            var pair: [Int32] = [-1, -1]
            #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
            sockets += pair
        }
        connection.proxy.block([])
        connection.proxy.waitUntilClosed()
        for socket in sockets {
            var byte: UInt8 = 0
            #expect(recv(socket, &byte, 1, Int32(MSG_DONTWAIT)) == -1, "it has received a byte, or was shut down")
        }
        for socket in sockets + [connection.accepted, connection.server] { #expect(close(socket) == 0) }
    }
}

/// A connection through a proxy, from member 0, which is this process, to member 1.
private struct Connection {
    let server: Int32
    let proxy: PeerProxy
    let client: Int32
    let accepted: Int32

    init() throws {
        // As the command does.
        signal(SIGPIPE, SIG_IGN)
        server = try Sockets.listen()
        proxy = try PeerProxy(targets: [Sockets.freePort(), Sockets.port(of: server)])
        proxy.setProcess(getpid(), of: 0)
        client = try #require(Sockets.connect(to: proxy.ports[1]))
        accepted = try #require(Sockets.accept(server)).socket
    }

    /// Sends a text from member 1 to member 0.
    func answer(_ text: String) -> Bool { send(accepted, text, text.utf8.count, 0) == text.utf8.count }

    /// Returns what a socket receives next; an empty text if it was shut down.
    static func read(_ socket: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = recv(socket, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }

    func close() { for socket in [client, accepted, server] { #expect(Foundation.close(socket) == 0) } }
}
#endif
