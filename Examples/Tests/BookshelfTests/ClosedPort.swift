import Foundation

/// A port of the loopback interface at which no server listens, and at which none can begin to: the port of a server that has ended can be that of the
/// next one.
final class ClosedPort {
    let address: URL
    private let socket: Int32

    init() throws {
        #if canImport(Darwin)
        socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #else
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var local = sockaddr_in()
        local.sin_family = sa_family_t(AF_INET)
        local.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        // Bound, and without `listen`: the system refuses each connection.
        let isBound = withUnsafeMutablePointer(to: &local) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        guard isBound, let address = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: local.sin_port))") else {
            throw POSIXError(.EADDRNOTAVAIL)
        }
        self.address = address
    }

    deinit { _ = close(socket) }
}
