internal import Foundation

/// The process that holds a lease or waits for it, as it describes itself in the store. The description is only informative: it has no effect on
/// which process holds the lease.
public struct LeaseHolder: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The description that the process passed as `holder`; by default its host and process ID.
    public let holder: String
    /// The name of the host.
    public let host: String
    /// The process ID.
    public let process: Int32
    /// The fencing token of the lease; `nil` in the value of an entry, whose revision is the token.
    public internal(set) var token: FencingToken?

    init(holder: String?) {
        (host, process) = (Self.hostName, ProcessInfo.processInfo.processIdentifier)
        self.holder = holder ?? "\(host):\(process)"
    }

    /// Reads the value of an entry. A value of other software is its text.
    init(_ entry: StoreEntry) {
        if let holder = try? JSONDecoder().decode(Self.self, from: entry.value) {
            self = holder
        } else {
            (holder, host, process) = (String(decoding: entry.value, as: UTF8.self), "", 0)
        }
        token = FencingToken(rawValue: entry.createRevision)
    }

    /// The value of the own entry.
    var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)) ?? Data()
    }

    /// Not that of `ProcessInfo`, which may ask a name server.
    private static let hostName: String = {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard gethostname(buffer.baseAddress!, buffer.count - 1) == 0 else { return "localhost" }
            buffer[buffer.count - 1] = 0
            return String(cString: buffer.baseAddress!)
        }
    }()

    /// The same text as ``holder``.
    public var description: String { holder }
}
