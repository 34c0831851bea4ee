/// A key or a name that is equal to another one if both have the same bytes in UTF-8, as in the stores.
///
/// A `String` compares characters: "é" as one scalar and "é" as two scalars are equal strings, and two keys of a store.
package struct StoreKey: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { text }

    package static func == (one: Self, other: Self) -> Bool { one.text.isSameKey(as: other.text) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // The byte 0xFF does not occur in UTF-8: it ends the key.
        hasher.combine(0xFF as UInt8)
    }
}

extension String {
    /// Returns whether both texts have the same UTF-8 bytes. (`==` also holds for different Unicode representations of the same character.)
    package func isSameKey(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Returns whether this text comes before another in the order of their UTF-8 bytes.
    package func isKeyBefore(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
