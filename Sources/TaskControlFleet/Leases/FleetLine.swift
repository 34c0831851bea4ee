/// The entries of a store in which holders and waiters of one name stand, in the order of their creation.
struct FleetLine: Hashable, Sendable {
    /// The name that callers have given, for errors and diagnostics.
    let name: String
    /// The prefix of the keys of the entries, which end with the lease of the entry.
    let prefix: String
    /// The number of entries that hold at the same time: the oldest ones. 1 or more.
    let permits: Int
    /// The key of a published result that ends the wait; `nil`: there is none.
    let resultKey: String?
    /// The prefix of all keys that concern a waiter.
    let watched: String

    private init(name: String, prefix: String, permits: Int, resultKey: String?, watched: String) {
        self.name = name
        self.prefix = prefix
        self.permits = permits
        self.resultKey = resultKey
        self.watched = watched
    }

    static func lease(_ name: String) -> Self { line("lease", name, permits: 1) }

    /// Less than one permit counts as one.
    static func semaphore(_ name: String, permits: Int) -> Self { line("permits", name, permits: max(1, permits)) }

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

    /// The key of the entry that a lease stands for.
    func key(of lease: LeaseID) -> String {
        let digits = lease.description
        return prefix + String(repeating: "0", count: max(0, 16 - digits.count)) + digits
    }

    /// Replaces the characters that would end a part of a key.
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
