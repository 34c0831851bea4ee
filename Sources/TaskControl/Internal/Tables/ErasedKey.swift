/// A key without its type, so that the code that uses it is not generic: generic code is slow if the compiler does not specialize it.
///
/// Keys of different types are never equal: `1 as Int` is not `1.0`. The client's `hash(into:)` runs when the erased
/// key is created, before a lock is taken. The client's `==` runs for keys with equal hashes, under the lock of the
/// table that contains them. This `==` is the only client code that runs under a lock, and must not call the object
/// that owns the table.
@usableFromInline
package struct _ErasedKey: Hashable, Sendable {
    /// The hash of the key, computed once, when the erased key is created.
    @usableFromInline let hash: Int
    @usableFromInline let type: Any.Type
    /// The key itself, if its type contains no references and has at most eight bytes, such as a number or an
    /// enumeration without associated values. Such a key needs no object. For all other keys, these bytes are zero.
    @usableFromInline let bytes: _KeyBytes
    /// The object that holds the key, if the key is not stored in `bytes`.
    @usableFromInline let box: Box?

    @inlinable
    package init<Key: Hashable & Sendable>(_ key: Key) {
        hash = key.hashValue
        type = Key.self
        if _KeyBytes.canHold(Key.self) {
            bytes = _KeyBytes(of: key)
            box = nil
        } else {
            bytes = _KeyBytes()
            box = TypedBox(key)
        }
    }

    /// Returns the original key.
    ///
    /// - Parameter type: The type of the original key. Traps if it is another type.
    @usableFromInline
    package func unwrapped<Key: Hashable & Sendable>(as type: Key.Type) -> Key {
        guard type == self.type else { preconditionFailure("A key is read as the type that it was created from.") }
        guard let box else { return bytes.key(as: type) }
        return unsafeDowncast(box, to: TypedBox<Key>.self).key
    }

    /// The text of the key in events: the description of the original key; `nil` for an ``OnlyKey``.
    package var text: String? {
        if type == OnlyKey.self { return nil }
        func text<Key>(_ type: Key.Type) -> String { String(describing: bytes.key(as: type)) }
        return box?.text ?? _openExistential(type, do: text)
    }

    /// The hash of the original key. This value is not hashed again, because it already comes from a hasher.
    @inlinable package var hashValue: Int { hash }

    @inlinable
    package static func == (one: _ErasedKey, other: _ErasedKey) -> Bool {
        guard one.hash == other.hash, one.type == other.type else { return false }
        if let box = one.box, let otherBox = other.box { return box === otherBox || box.equals(otherBox) }
        return one.bytes.bits == other.bytes.bits || one.equals(other)
    }

    /// Returns whether two keys that are stored in `bytes` are equal by the `==` of their type. Called if their bytes
    /// differ: such keys are rarely equal, but 0.0 and -0.0 are.
    @usableFromInline
    @inline(never)
    func equals(_ other: _ErasedKey) -> Bool {
        func equals<Key: Hashable>(_ type: Key.Type) -> Bool { bytes.key(as: type) == other.bytes.key(as: type) }
        guard let type = type as? any Hashable.Type else { preconditionFailure("The type of a key is hashable.") }
        return equals(type)
    }

    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    // Sendable, because the class has no stored properties.
    @usableFromInline class Box: @unchecked Sendable {
        @inlinable init() {}

        /// Returns whether the key of another box, which must have the same type, is equal to the key of this box.
        @inlinable func equals(_ other: Box) -> Bool {
            preconditionFailure("A box has a type.")
        }

        @inlinable var text: String { preconditionFailure("A box has a type.") }
    }

    // Sendable, because its only stored property is a constant of a Sendable type.
    @usableFromInline final class TypedBox<Key: Hashable & Sendable>: Box, @unchecked Sendable {
        @usableFromInline let key: Key

        @inlinable init(_ key: Key) {
            self.key = key
        }

        @inlinable override func equals(_ other: Box) -> Bool {
            key == unsafeDowncast(other, to: TypedBox.self).key
        }

        @inlinable override var text: String { key as? String ?? String(describing: key) }
    }
}

/// The key of a table that has only one key, which no event shows.
struct OnlyKey: Hashable, Sendable {}
