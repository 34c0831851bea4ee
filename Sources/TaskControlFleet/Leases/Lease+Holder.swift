internal import Foundation

extension Lease {
    /// The description of a process that holds a lease or waits for one.
    ///
    /// The process stores the description in the ``CoordinationStore``, as the value of the entry that stands for the
    /// process. ``LeaderElection/leader()`` returns the description of the leader. The description is only for people: it
    /// has no effect on which process holds the lease. If the process uses other software than this package, that software
    /// may have stored another value: then only ``holder`` and ``token`` are known.
    public struct Holder: Hashable, Sendable, Codable, CustomStringConvertible {
        /// The text that the process has passed as the parameter `holder`, for example to
        /// ``withLease(_:in:timeToLive:holder:clock:body:)``; by default its host name and process ID. For a process that
        /// uses other software than this package, the value that this software has stored, as text.
        public let holder: String
        /// The name of the machine on which the process runs. Empty for a process that uses other software than this
        /// package.
        public let host: String
        /// The process ID. Zero for a process that uses other software than this package.
        public let process: Int32
        /// The fencing token with which the process holds the lease, or will hold it. `nil` if you have decoded this
        /// description yourself, from the value of an entry of the store: the value does not contain the token.
        public internal(set) var token: Lease.FencingToken?

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
            token = Lease.FencingToken(rawValue: entry.createRevision)
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
}
