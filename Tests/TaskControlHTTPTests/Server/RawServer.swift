import Foundation
import TaskControl

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A server that does what a test says, byte by byte: also what no proper server would do.
///
/// ```swift
/// let server = try RawServer { connection, request in
///     try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
///     gate.wait()        // a SyncGate that the test opens
///     connection.close() // six bytes too early
/// }
/// let url = server.url("path")
/// …
/// try await server.log.wait { $0.live == 0 } // until it has seen that connection end
/// ```
///
/// Each connection has a thread. The closure is called on it for every request, once its head is there, until the connection is closed; it
/// may block. An error that it throws closes the connection. The body of a request that it did not read is read before the next one.
///
/// The server ends with the object, and its connections do; on 127.0.0.1, at a port of its own.
final class RawServer: Sendable {
    typealias Handler = @Sendable (Connection, RawRequest) throws -> Void

    /// The requests and connections that it has seen; tests wait for them.
    let log = ServerLog()
    private let start = ContinuousClock.now

    /// Whether all requests came over one connection. A session gives up one that it has not used for two minutes, so where a test had to wait for
    /// others that long, as in a full run on a busy machine, nothing can be said.
    var hadOneConnection: Bool { log.now.accepted == 1 || ContinuousClock.now - start > .seconds(60) }

    let port: UInt16
    private let listener: CInt
    private let connections: ConnectionList

    init(_ handler: @escaping Handler) throws {
        // A client that has gone is an error of `send`, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        let (listener, port) = try Self.listen()
        (self.listener, self.port) = (listener, port)
        let (log, connections) = (log, ConnectionList())
        self.connections = connections
        Thread.detachNewThread {
            while case let socket = accept(listener, nil, nil), socket >= 0 {
                guard connections.isOpen else {
                    _ = systemClose(socket)
                    break
                }
                let number = log.accepted()
                let connection = Connection(socket, number: number)
                guard connections.insert(connection) else {
                    connection.close()
                    log.ended()
                    break
                }
                Thread.detachNewThread {
                    connection.serve(log, handler)
                    connection.close()
                    connections.remove(connection)
                    log.ended()
                }
            }
            _ = systemClose(listener)
            log.closed()
        }
    }

    /// A server that sends a head and half of the body that it says comes, and waits until the client has gone.
    static func halfway() throws -> RawServer {
        try RawServer { connection, _ in
            try connection.sendHalf()
            connection.waitUntilClosed()
        }
    }

    deinit {
        connections.closeAll()
        // Wakes the thread that accepts, which closes the listener. Not `shutdown`, which Darwin refuses for a socket that listens; and not
        // `close`, after which the thread may accept from another socket that has been given the same number.
        _ = systemClose(Self.connect(to: port))
    }

    /// Begins to connect to a port of this machine, and does not wait.
    fileprivate static func connect(to port: UInt16) -> CInt {
        let client = newSocket()
        var address = loopback(port)
        _ = fcntl(client, F_SETFL, O_NONBLOCK)
        withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = systemConnect(client, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return client
    }

    func url(_ path: String = "") -> URL { URL(string: "http://127.0.0.1:\(port)/\(path)")! }

    /// A URL of the same server that is of another origin.
    func foreignURL(_ path: String = "") -> URL { URL(string: "http://localhost:\(port)/\(path)")! }

    /// - Parameter backlog: The number of connections that may wait to be accepted; `nil`: the port is closed.
    fileprivate static func listen(backlog: CInt? = 512) throws -> (CInt, UInt16) {
        let listener = newSocket()
        var address = loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                listener >= 0 && bind(listener, address, size) == 0
                    && backlog.map { systemListen(listener, $0) } ?? 0 == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return (listener, UInt16(bigEndian: address.sin_port))
    }
}

/// A port of this machine that is closed, and can't be opened while this lives.
final class ClosedPort: Sendable {
    let port: UInt16
    private let socket: CInt

    init() throws { (socket, port) = try RawServer.listen(backlog: nil) }

    deinit { _ = systemClose(socket) }

    func url(_ path: String = "") -> URL { URL(string: "http://127.0.0.1:\(port)/\(path)")! }
}

/// A port of this machine at which connections are neither accepted nor refused: as many as it lets wait are waiting already.
final class FullListener {
    private let listener: CInt
    private var waiting: [CInt] = []
    let port: UInt16

    init() throws {
        // Not 0, which stands for the system's maximum on Darwin. On Linux 1 lets two wait, and some more elsewhere; the rest hang in their
        // first step.
        (listener, port) = try RawServer.listen(backlog: 1)
        for _ in 0..<16 { waiting.append(RawServer.connect(to: port)) }
    }

    deinit {
        for socket in waiting + [listener] { _ = systemClose(socket) }
    }

    func url(_ path: String = "") -> URL { URL(string: "http://127.0.0.1:\(port)/\(path)")! }
}

private func newSocket() -> CInt {
    #if canImport(Darwin)
    socket(AF_INET, SOCK_STREAM, 0)
    #else
    socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    #endif
}

private func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    return address
}

private func systemListen(_ socket: CInt, _ backlog: CInt) -> CInt { listen(socket, backlog) }

private func systemConnect(_ socket: CInt, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> CInt {
    connect(socket, address, size)
}

func systemClose(_ socket: CInt) -> CInt { close(socket) }

/// The connections of a server that live.
private final class ConnectionList: Sendable {
    private let state = Locked<[ObjectIdentifier: RawServer.Connection]?>([:])

    var isOpen: Bool { state.withLock { $0 != nil } }

    func insert(_ connection: RawServer.Connection) -> Bool {
        state.withLock { list in
            list?[ObjectIdentifier(connection)] = connection
            return list != nil
        }
    }

    func remove(_ connection: RawServer.Connection) {
        _ = state.withLock { $0?.removeValue(forKey: ObjectIdentifier(connection)) }
    }

    func closeAll() {
        let list = state.withLock { $0.take() }
        for connection in (list ?? [:]).values { connection.close() }
    }
}
