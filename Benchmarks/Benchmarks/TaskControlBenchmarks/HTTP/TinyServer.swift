import Foundation

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A server that answers every request with the same bytes, on one thread that waits for all connections at once: what is measured beside it is
/// the client.
///
/// A request for `held` is answered when it is released.
final class TinyServer: Sendable {
    static let body = String(repeating: "x", count: 100)
    private static let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)

    private let port: UInt16
    private let connections = HeldConnections()

    init() {
        signal(SIGPIPE, SIG_IGN)
        let (listener, port) = Self.listen()
        self.port = port
        // For as long as the process: its sockets are too few to be missed.
        Thread.detachNewThread { [connections] in Self.serve(listener, connections) }
    }

    func url(_ path: String) -> URL { URL(string: "http://127.0.0.1:\(port)/\(path)")! }

    /// The number of requests that are held.
    var heldCount: Int { connections.count }

    /// Answers those that are held.
    func release() {
        for socket in connections.takeAll() { Self.send(Self.answer, to: socket) }
    }

    private static func serve(_ listener: CInt, _ held: HeldConnections) {
        var sockets = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let path = Array("/held".utf8)
        while poll(&sockets, nfds_t(sockets.count), -1) >= 0 {
            for index in sockets.indices.reversed() where sockets[index].revents != 0 {
                let socket = sockets[index].fd
                if index == 0 {
                    let client = accept(listener, nil, nil)
                    guard client >= 0 else { continue }
                    var yes: CInt = 1
                    setsockopt(client, CInt(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<CInt>.size))
                    sockets.append(pollfd(fd: client, events: Int16(POLLIN), revents: 0))
                    continue
                }
                let count = recv(socket, &buffer, buffer.count, 0)
                // A small request arrives in one piece.
                if count <= 0 {
                    close(socket)
                    sockets.remove(at: index)
                } else if buffer[..<count].dropFirst(4).starts(with: path) {
                    held.add(socket)
                } else {
                    send(answer, to: socket)
                }
            }
        }
    }

    private static func send(_ bytes: [UInt8], to socket: CInt) {
        _ = bytes.withUnsafeBytes { systemSend(socket, $0.baseAddress, $0.count) }
    }

    private static func listen() -> (CInt, UInt16) {
        #if canImport(Darwin)
        let listener = socket(AF_INET, SOCK_STREAM, 0)
        #else
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && systemListen(listener, 512) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard isListening else { fatalError("No port of this machine can be had: \(errno)") }
        return (listener, UInt16(bigEndian: address.sin_port))
    }
}

/// The connections whose requests are held.
private final class HeldConnections: @unchecked Sendable {
    private let lock = NSLock()
    private var sockets: [CInt] = []

    var count: Int { lock.withLock { sockets.count } }

    func add(_ socket: CInt) { lock.withLock { sockets.append(socket) } }

    func takeAll() -> [CInt] {
        lock.withLock {
            defer { sockets = [] }
            return sockets
        }
    }
}

private func systemListen(_ socket: CInt, _ backlog: CInt) -> CInt { listen(socket, backlog) }

private func systemSend(_ socket: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    send(socket, bytes, count, 0)
}
