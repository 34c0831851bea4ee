import Foundation

/// Sockets of the loopback interface, for the proxy between members.
enum Sockets {
    struct Failure: Error, CustomStringConvertible {
        let call: String
        let code = errno

        var description: String { "\(call): \(String(cString: strerror(code)))" }
    }

    #if canImport(Darwin)
    private static let stream = SOCK_STREAM
    #else
    private static let stream = Int32(SOCK_STREAM.rawValue)
    #endif

    /// Returns a socket that listens at a port of the loopback interface; 0: any free port.
    static func listen(at port: UInt16 = 0) throws -> Int32 {
        let socket = socket(AF_INET, stream, 0)
        var yes: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        var address = address(port)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
        }
        guard status == 0, Foundation.listen(socket, 64) == 0 else { throw Failure(call: "listen") }
        return socket
    }

    /// Returns a free port.
    static func freePort() throws -> UInt16 {
        let socket = try listen()
        defer { close(socket) }
        return port(of: socket)
    }

    static func port(of socket: Int32) -> UInt16 {
        var address = sockaddr_in()
        var size = size
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Accepts a connection, and returns the port of the process at the other end.
    static func accept(_ listener: Int32) -> (socket: Int32, port: UInt16)? {
        var address = sockaddr_in()
        var size = size
        let socket = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Foundation.accept(listener, $0, &size) }
        }
        guard socket >= 0 else { return nil }
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        return (socket, UInt16(bigEndian: address.sin_port))
    }

    /// Connects to a port of the loopback interface.
    static func connect(to port: UInt16) -> Int32? {
        let socket = socket(AF_INET, stream, 0)
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        var address = address(port)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Foundation.connect(socket, $0, size) }
        }
        if status == 0 { return socket }
        close(socket)
        return nil
    }

    private static var size: socklen_t { socklen_t(MemoryLayout<sockaddr_in>.size) }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
