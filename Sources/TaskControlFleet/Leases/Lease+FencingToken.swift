extension Lease {
    /// A number that increases with each new holder of a lease. With it, a resource can refuse a holder whose lease has ended.
    ///
    /// Pass the token with each request to the resource. If the resource stores the highest token that it has received, and refuses requests with lower
    /// ones, it is safe from a holder that continues after its lease was lost, for example because its process was paused. The token is the revision at
    /// which the holder's entry in the store was created. It is encoded as its number.
    public struct FencingToken: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
        /// The number. If two leases have the same name, the later lease has the higher number.
        public let rawValue: Int64

        /// Creates a token from its number, for example from a number that a resource has stored.
        ///
        /// - Parameter rawValue: The number.
        public init(rawValue: Int64) { self.rawValue = rawValue }

        /// Returns whether the first token is older than the second: the first then belongs to an earlier holder of the
        /// lease.
        public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

        /// The number in decimal notation.
        public var description: String { String(rawValue) }
    }
}
