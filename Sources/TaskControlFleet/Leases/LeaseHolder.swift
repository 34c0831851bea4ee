internal import Foundation

/// The description of a process that holds a lease or waits for one.
///
/// The process stores the description in the ``CoordinationStore``, in the entry that stands for the process;
/// ``LeaderElection/leader()`` returns the description of the leader. The description is only for people: it has no
/// effect on which process holds the lease.
public struct LeaseHolder: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The text that the process has passed as `holder`, for example to
    /// ``withLease(_:in:timeToLive:holder:clock:body:)``; by default its host name and process ID. If the process's
    /// entry in the store was written by software that does not use this package, the value of the entry as text.
    public let holder: String
    /// The name of the process's host. Empty if the process's entry in the store was written by software that does not
    /// use this package.
    public let host: String
    /// The process ID. Zero if the process's entry in the store was written by software that does not use this package.
    public let process: Int32
    /// The fencing token with which the process holds the lease, or will hold it: the revision at which the process's
    /// entry in the store was created. `nil` if you have decoded this value from the value of an entry, which does not
    /// contain the token.
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

    /// The same text as ``holder``.
    public var description: String { holder }
}
