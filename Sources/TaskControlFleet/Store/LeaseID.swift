/// The identity of a lease of a ``CoordinationStore``.
package struct LeaseID: Hashable, Sendable, Codable, RawRepresentable, CustomStringConvertible {
    /// The number that the store has assigned to the lease.
    package let rawValue: Int64

    /// Creates the ID of a lease from its number.
    ///
    /// - Parameter rawValue: The number that the store has assigned to the lease.
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The number in hexadecimal notation, such as "32695410dcc0ca06".
    package var description: String { String(UInt64(bitPattern: rawValue), radix: 16) }
}
