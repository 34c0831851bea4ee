/// The entries of a ``CoordinationStore`` that are read, removed or watched.
public struct StoreRange: Hashable, Sendable {
    /// The keys of a range.
    public enum Keys: Hashable, Sendable {
        /// A single key.
        case key(String)
        /// All keys that begin with a text. An empty text stands for all keys.
        case prefix(String)
    }

    /// The order in which entries are read.
    public enum Order: Hashable, Sendable {
        /// The order of the keys as UTF-8.
        case key
        /// The order of the creation revisions of the entries, the oldest first.
        case creation
    }

    /// The keys of the range.
    public var keys: Keys
    /// The order of entries that are read.
    public var order: Order
    /// The maximum number of entries that are read, in the given order; `nil` for all.
    public var limit: Int?

    /// Creates a range.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - order: The order of entries that are read.
    ///   - limit: The maximum number of entries that are read, 1 or more; `nil` for all.
    public init(_ keys: Keys, order: Order = .key, limit: Int? = nil) {
        self.keys = keys
        self.order = order
        self.limit = limit
    }

    /// Creates the range of one key.
    public static func key(_ key: String) -> Self { Self(.key(key)) }

    /// Creates the range of all keys that begin with a text.
    public static func prefix(_ prefix: String) -> Self { Self(.prefix(prefix)) }

    /// Returns whether the range contains a key.
    public func contains(_ key: String) -> Bool {
        switch keys {
        case .key(let only): key.utf8.elementsEqual(only.utf8)
        case .prefix(let prefix): key.utf8.starts(with: prefix.utf8)
        }
    }
}
