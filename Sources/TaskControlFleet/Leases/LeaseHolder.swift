internal import Foundation

/// A process that holds a lease or waits for one, as the process describes itself in the store. The description is only for people: it has no effect
/// on which process holds the lease.
public struct LeaseHolder: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The description that the process has passed as `holder`; by default its host name and process ID.
    public let holder: String
    /// The name of the host. Empty if other software has written the entry.
    public let host: String
    /// The process ID. Zero if other software has written the entry.
    public let process: Int32
    /// The fencing token of the lease: the revision at which the process's entry in the store was created. `nil` if this value was decoded from the
    /// value of an entry, which does not contain the token.
    public internal(set) var token: FencingToken?

    init(holder: String?) {
        (host, process) = (Self.hostName, ProcessInfo.processInfo.processIdentifier)
        self.holder = holder ?? "\(host):\(process)"
    }

    /// Creates the description of a process from its entry in the store. If other software has written the entry, ``holder`` is the entry's value as
    /// text.
    init(_ entry: StoreEntry) {
        if let holder = try? JSONDecoder().decode(Self.self, from: entry.value) {
            self = holder
        } else {
            (holder, host, process) = (String(decoding: entry.value, as: UTF8.self), "", 0)
        }
        token = FencingToken(rawValue: entry.createRevision)
    }

    /// The JSON that this process stores as the value of its entry.
    var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)) ?? Data()
    }

    /// The name of this host. It is read without `ProcessInfo`, which may ask a name server.
    private static let hostName: String = {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard gethostname(buffer.baseAddress!, buffer.count - 1) == 0 else { return "localhost" }
            buffer[buffer.count - 1] = 0
            return String(cString: buffer.baseAddress!)
        }
    }()

    /// The text of ``holder``.
    public var description: String { holder }
}
