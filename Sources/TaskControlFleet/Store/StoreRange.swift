/// A range of entries of a ``CoordinationStore``, to read or to watch. A watch ignores the ``order`` and the ``limit``.
package struct StoreRange: Hashable, Sendable {
    /// A set of keys: a single key, or all keys with a common prefix.
    package enum Keys: Hashable, Sendable {
        /// A single key.
        case key(String)
        /// All keys that begin with a text. An empty text stands for all keys.
        case prefix(String)

        private var parts: (isPrefix: Bool, text: StoreKey) {
            switch self {
            case .key(let key): (false, StoreKey(key))
            case .prefix(let prefix): (true, StoreKey(prefix))
            }
        }

        /// Returns whether both sets are described equally. Texts are compared byte by byte, in UTF-8.
        package static func == (one: Self, other: Self) -> Bool { one.parts == other.parts }

        /// Adds the set to a hasher.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(parts.isPrefix)
            hasher.combine(parts.text)
        }
    }

    /// The order in which entries are read.
    package enum Order: Hashable, Sendable {
        /// The ascending order of the keys, compared byte by byte in UTF-8.
        case key
        /// The order in which the entries were created, the oldest first. The order of entries that one transaction has
        /// created is not specified.
        case creation
    }

    /// The keys of the range.
    package var keys: Keys
    /// The order in which a read returns the entries.
    package var order: Order
    /// The maximum number of entries that a read returns, counted from the first entry in ``order``. `nil` for all
    /// entries; less than 1 counts as 1.
    package var limit: Int?

    /// Creates a range of entries.
    ///
    /// - Parameters:
    ///   - keys: The keys of the entries.
    ///   - order: The order in which a read returns the entries.
    ///   - limit: The maximum number of entries that a read returns, counted from the first entry in `order`. `nil` for
    ///     all entries; less than 1 counts as 1.
    package init(_ keys: Keys, order: Order = .key, limit: Int? = nil) {
        self.keys = keys
        self.order = order
        self.limit = limit
    }

    /// Creates a range that contains a single key.
    package static func key(_ key: String) -> Self { Self(.key(key)) }

    /// Creates a range that contains all keys that begin with a text. An empty text stands for all keys.
    package static func prefix(_ prefix: String) -> Self { Self(.prefix(prefix)) }

    /// Returns whether ``keys`` contains a key, regardless of the ``order`` and the ``limit``.
    package func contains(_ key: String) -> Bool {
        switch keys {
        case .key(let only): key.isSameKey(as: only)
        case .prefix(let prefix): key.utf8.starts(with: prefix.utf8)
        }
    }
}
