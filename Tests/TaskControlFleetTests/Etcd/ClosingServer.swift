import Foundation
import TaskControl

/// A server on the loopback interface that answers requests, and at some paths reads the request and closes the connection without an answer.
final class ClosingServer: Sendable {
    let url: URL
    private let socket: Int32
    private let address: sockaddr_in
    private let closingPath: String
    private let answer: String
    private let received = Locked<[String]>([])
    private let isStopped = Locked(false)
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - closingPath: The end of the paths that are not answered.
    ///   - answer: The body of the other answers.
    init(closingAt closingPath: String, answer: String) throws {
        (self.closingPath, self.answer) = (closingPath, answer)
        #if canImport(Darwin)
        socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #else
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && listen(socket, 16) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        guard status else { throw POSIXError(.EADDRNOTAVAIL) }
        self.address = address
        url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")!
        Thread.detachNewThread { [self] in
            while case let connection = accept(socket, nil, nil), connection >= 0 {
                if isStopped.withLock(\.self) {
                    close(connection)
                    break
                }
                Thread.detachNewThread { [self] in serve(connection) }
            }
            close(socket)
            ended.signal()
        }
    }

    /// The ends of the paths of the requests whose bodies have arrived.
    var paths: [String] { received.withLock(\.self) }

    /// Closes the port. It is closed when this function returns.
    ///
    /// The thread that accepts is woken by a connection, and closes the socket itself: after a `close` here it could accept from a socket of another
    /// test that has been given the same number, and answer its requests.
    func stop() {
        isStopped.withLock { $0 = true }
        var address = address
        #if canImport(Darwin)
        let client = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #else
        let client = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        ended.wait()
        close(client)
    }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var text = ""
        while let request = request(connection, &text) {
            let path = request.split(separator: " ")[1].split(separator: "/").last.map(String.init) ?? ""
            received.withLock { $0.append(path) }
            if path == closingPath { return }
            let reply = "HTTP/1.1 200 OK\r\nContent-Length: \(answer.utf8.count)\r\n\r\n\(answer)"
            _ = Data(reply.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) }
        }
    }

    /// Reads a request with its body, whose length the request says.
    private func request(_ connection: Int32, _ text: inout String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let end = text.range(of: "\r\n\r\n") {
                let head = text[..<end.lowerBound]
                let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
                if text[end.upperBound...].utf8.count >= length ?? 0 {
                    text = String(text[end.upperBound...].utf8.dropFirst(length ?? 0)) ?? ""
                    return String(head)
                }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }
}
