import Foundation

/// Finds the process at the other end of a connection within this machine, in the tables of Linux.
enum SocketOwner {
    /// The process at the other end.
    enum Owner: Hashable, Sendable {
        /// The index of the process.
        case process(Int)
        /// The connection has been closed at the other end.
        case gone
        /// The socket belongs to another process, or the tables cannot be read.
        case unknown
    }

    /// Returns which of the processes has the socket of a connection.
    ///
    /// - Parameters:
    ///   - port: The port of the socket.
    ///   - remote: The port that it is connected to.
    ///   - processes: Returns the numbers of the processes.
    static func owner(of port: UInt16, to remote: UInt16, among processes: () -> [Int32]) -> Owner {
        // A process that was started at this moment, or that ends at this moment, is found or gone soon.
        for _ in 0..<100 {
            let table = contents(ofFile: "/proc/net/tcp")
            if table.isEmpty { return .unknown }
            // The socket of a process that has closed it belongs to the kernel.
            guard let inode = inode(port, remote, table), inode != "0" else { return .gone }
            if let index = processes().firstIndex(where: { has($0, "socket:[\(inode)]") }) { return .process(index) }
            Thread.sleep(forTimeInterval: 0.01)
        }
        return .unknown
    }

    private static func inode(_ port: UInt16, _ remote: UInt16, _ table: String) -> Substring? {
        let (local, other) = (hexadecimal(port), hexadecimal(remote))
        for line in table.split(separator: "\n").dropFirst() {
            // sl, local address, remote address, state, queues, timer, retransmissions, user, timeout, inode
            let columns = line.split(separator: " ")
            if columns.count > 9, columns[1].hasSuffix(local), columns[2].hasSuffix(other) { return columns[9] }
        }
        return nil
    }

    /// Reads a file of the kernel to its end. Foundation reads one page of it, since its size is said to be 0.
    private static func contents(ofFile path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while case let count = read(file, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexadecimal(_ port: UInt16) -> String {
        let digits = String(port, radix: 16, uppercase: true)
        return ":" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    private static func has(_ process: Int32, _ link: String) -> Bool {
        let folder = "/proc/\(process)/fd"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.contains {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == link
        }
    }
}
