/// A key of any type, so that the engine is compiled once, for all of them, instead of being interpreted for each.
///
/// Keys of two types are never equal, whatever they say themselves (`1 as Int` is not `1.0`). The user's `hash(into:)` runs when a key is
/// made, before the lock is taken. `==`, of keys that hash alike, runs under it: the one piece of code of others that does, and as in a
/// dictionary it must not come back.
@usableFromInline
struct _ErasedKey: Hashable, Sendable {
    /// Beside the box, so that a growing table need not open each.
    @usableFromInline let hash: Int
    @usableFromInline let box: Box

    @inlinable
    init<Key: Hashable & Sendable>(_ key: Key) {
        hash = key.hashValue
        box = TypedBox(key)
    }

    /// The key that this was made of.
    func unwrapped<Key: Hashable & Sendable>(as type: Key.Type) -> Key {
        guard let box = box as? TypedBox<Key> else { preconditionFailure("A key is asked for as what it was made of.") }
        return box.key
    }

    /// The key in words: what it says of itself.
    var text: String { box.text }

    @usableFromInline
    static func == (one: _ErasedKey, other: _ErasedKey) -> Bool {
        one.box === other.box || (one.hash == other.hash && one.box.equals(other.box))
    }

    @usableFromInline
    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    // Sendable: it has nothing that could change.
    @usableFromInline class Box: @unchecked Sendable {
        @inlinable init() {}

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
            type(of: other) == TypedBox.self && key == unsafeDowncast(other, to: TypedBox.self).key
        }

        @inlinable override var text: String { key as? String ?? String(describing: key) }
    }
}
