/// A number that increases with each holder of a lease, so that a resource can refuse a holder whose lease is over.
///
/// A resource that remembers the highest token that it has seen, and refuses lower ones, is safe from a holder that continues after its lease was lost,
/// for example because its process was paused. The token is the revision at which the holder's entry in the store was created.
public struct FencingToken: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number. Of two leases of one name, the later one has the higher number.
    public let rawValue: Int64

    /// Creates a token from its number, for example one that a resource has stored.
    ///
    /// - Parameter rawValue: The number.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Decodes a token from its number.
    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(Int64.self)
    }

    /// Encodes the number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// Returns whether a token is older than another one.
    public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

    /// The number in decimal notation.
    public var description: String { String(rawValue) }
}
