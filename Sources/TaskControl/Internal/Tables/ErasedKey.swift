/// A key of any type, so that the engine is compiled once, for all of them, instead of being interpreted for each.
///
/// Keys of two types are never equal, whatever they say themselves (`1 as Int` is not `1.0`). The user's `hash(into:)` runs when a key is
/// created, before the lock is taken. `==`, of keys with equal hashes, runs under the lock: it is the only foreign code that does, and as in a
/// dictionary it must not call the owner.
@usableFromInline
struct _ErasedKey: Hashable, Sendable {
    /// Computed once, when the key is made.
    @usableFromInline let hash: Int
    @usableFromInline let type: Any.Type
    /// The key itself, if it is a few bytes, such as a number or a case without values: most keys need no object.
    @usableFromInline let bytes: _KeyBytes
    /// The key, if it is anything else.
    @usableFromInline let box: Box?

    @inlinable
    init<Key: Hashable & Sendable>(_ key: Key) {
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

    /// The key that this was created from.
    @usableFromInline
    func unwrapped<Key: Hashable & Sendable>(as type: Key.Type) -> Key {
        guard type == self.type else { preconditionFailure("A key is asked for as what it was made of.") }
        guard let box else { return bytes.key(as: type) }
        return unsafeDowncast(box, to: TypedBox<Key>.self).key
    }

    /// The key in words: its description.
    var text: String {
        func text<Key>(_ type: Key.Type) -> String { String(describing: bytes.key(as: type)) }
        return box?.text ?? _openExistential(type, do: text)
    }

    /// The hash, as it is: it has been through a hasher.
    @usableFromInline var hashValue: Int { hash }

    @usableFromInline
    static func == (one: _ErasedKey, other: _ErasedKey) -> Bool {
        guard one.hash == other.hash, one.type == other.type else { return false }
        if let box = one.box, let otherBox = other.box { return box === otherBox || box.equals(otherBox) }
        return one.bytes == other.bytes || one.equals(other)
    }

    /// Compares keys of other bytes, which are seldom equal, such as 0.0 and -0.0.
    @inline(never)
    private func equals(_ other: _ErasedKey) -> Bool {
        func equals<Key: Hashable>(_ type: Key.Type) -> Bool { bytes.key(as: type) == other.bytes.key(as: type) }
        guard let type = type as? any Hashable.Type else { preconditionFailure("A key is hashable.") }
        return equals(type)
    }

    @usableFromInline
    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    // Sendable: it has nothing that could change.
    @usableFromInline class Box: @unchecked Sendable {
        @inlinable init() {}

        /// Compares the key to one of the same type.
        @inlinable func equals(_ other: Box) -> Bool {
            preconditionFailure("A box has a type.")
        }

        @inlinable var text: String { preconditionFailure("A box has a type.") }
    }

    // Sendable, as its base: a `let` that is Sendable is all that it has.
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
