internal import TaskControl

/// The queue of all callers that hold a lease, or wait for it, under one name (a line): each caller has an entry in the store, and the entries are
/// ordered by their creation.
struct FleetLine: Sendable {
    /// The name of the lease, semaphore or election as the caller has given it, or the name and the key of a ``FleetFlight``. Used in errors and
    /// diagnostics.
    let name: String
    /// The prefix of the keys of all callers' entries. Each key ends with the ID of the entry's lease.
    let prefix: String
    /// The number of callers that may hold a lease at the same time, at least 1: the callers with the oldest entries.
    let permits: Int
    /// The key at which the result of a ``FleetFlight`` is published, which ends the wait of all callers; `nil` for a lease, a semaphore or an
    /// election, which publish no result.
    let resultKey: String?
    /// The prefix of all keys that a waiting caller watches: those of the callers' entries and of the published result.
    let watched: String

    private init(name: String, prefix: String, permits: Int, resultKey: String?, watched: String) {
        self.name = name
        self.prefix = prefix
        self.permits = permits
        self.resultKey = resultKey
        self.watched = watched
    }

    static func lease(_ name: String) -> Self { line("lease", name, permits: 1) }

    /// Returns the line of the semaphore `name`, in which `permits` callers can hold a permit at the same time. Less
    /// than one permit counts as one.
    static func semaphore(_ name: String, permits: Int) -> Self { line("permits", name, permits: permitCount(permits)) }

    private static func permitCount(_ permits: Int) -> Int {
        ComputedNumber.count(permits, "FleetSemaphore(permits:)", .fleetSemaphore)
    }

    private static func line(_ folder: String, _ name: String, permits: Int) -> Self {
        let prefix = "\(folder)/\(escaped(name))/"
        return Self(name: name, prefix: prefix, permits: permits, resultKey: nil, watched: prefix)
    }

    static func flight(_ name: String, key: String) -> Self {
        let prefix = "flight/\(escaped(name))/\(escaped(key))/"
        return Self(
            name: "\(name)/\(key)",
            prefix: "\(prefix)line/",
            permits: 1,
            resultKey: "\(prefix)result",
            watched: prefix
        )
    }

    /// The same line for a caller that receives no published result, and waits until it is its turn.
    var withoutResult: Self { Self(name: name, prefix: prefix, permits: permits, resultKey: nil, watched: watched) }

    /// Returns the key of the entry that belongs to a lease.
    func key(of lease: LeaseID) -> String {
        let digits = lease.description
        return prefix + String(repeating: "0", count: max(0, 16 - digits.count)) + digits
    }

    /// Returns a name in which `/`, which separates the parts of a key, and `%` are percent-encoded.
    static func escaped(_ name: String) -> String {
        var text = ""
        for character in name.unicodeScalars {
            switch character {
            case "%": text += "%25"
            case "/": text += "%2F"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
