/// A key without its type, so that the code that uses it is not generic: generic code is slow if the compiler does not specialize it.
///
/// Keys of different types are never equal: `1 as Int` is not `1.0`.
///
/// A key belongs to the isolation of the client, and its conformance to `Hashable` may be isolated to an actor. So its
/// code runs only within calls that the client makes with a key:
/// - `hash(into:)` when the erased key is created, before a lock is taken;
/// - `==` in a search for the key of such a call, for keys with equal hashes, under the lock of the table that contains
///   them. It is the only client code that runs under a lock, and must not call the object that owns the table;
/// - `description` in ``described()``, without a lock.
///
/// Code that runs elsewhere, such as the end of a task, finds an element by its index or ticket, and reads ``text``,
/// which runs no code of the client.
///
/// It is Sendable because the key was sent to the owner that keeps it, and is used only in those calls. See
/// `TaskStore.runningKeys` and the initializers of `CachedFlight` for keys that are returned to the client.
@usableFromInline
package struct _ErasedKey: Hashable, @unchecked Sendable {
    /// The hash of the key, computed once, when the erased key is created.
    @usableFromInline let hash: Int
    @usableFromInline let type: Any.Type
    /// The key itself, if its type contains no references and has at most eight bytes, such as a number or an
    /// enumeration without associated values. Such a key needs no object. For all other keys, these bytes are zero.
    @usableFromInline let bytes: _KeyBytes
    /// The object that holds the key, if the key is not stored in `bytes`, and the text of the key, if it was made.
    @usableFromInline let box: Box?

    @export(implementation)
    package init<Key: Hashable>(_ key: Key) {
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

    private init(_ key: _ErasedKey, box: Box) {
        (hash, type, bytes, self.box) = (key.hash, key.type, key.bytes, box)
    }

    /// Returns the original key.
    ///
    /// - Parameter type: The type of the original key. Traps if it is another type.
    @usableFromInline
    package func unwrapped<Key: Hashable>(as type: Key.Type) -> Key {
        guard type == self.type else { preconditionFailure("A key is read as the type that it was created from.") }
        guard _KeyBytes.canHold(type) else { return unsafeDowncast(box!, to: TypedBox<Key>.self).key }
        return bytes.key(as: type)
    }

    // MARK: Text

    /// Returns this key with its text for events while an observer is registered, and otherwise this key. Must be called within a call that the
    /// client makes with the key, for a key that is kept, or that is the subject of an event: the description of the client's key runs here.
    @inline(__always)
    package func described() -> _ErasedKey {
        Diagnostics.isUnobserved ? self : withText()
    }

    /// Replaces a key by ``described()``, for functions that are inlined in clients.
    @usableFromInline
    static func describe(_ key: inout _ErasedKey?) {
        if Diagnostics.isUnobserved { return }
        key = key?.withText()
    }

    @inline(never)
    func withText() -> _ErasedKey {
        func text<Key>(_ type: Key.Type) -> String { String(describing: bytes.key(as: type)) }
        if type == OnlyKey.self { return self }
        return _ErasedKey(self, box: box?.withText() ?? Box(text: _openExistential(type, do: text)))
    }

    /// The text of the key in events; `nil` for an ``OnlyKey``. Runs no code of the client: if the key was not described, because no observer was
    /// registered, this is a string, the digits of an integer, the name of the case of an enumeration, or the name of the type.
    package var text: String? {
        if type == OnlyKey.self { return nil }
        return box?.text ?? plainText
    }

    private var plainText: String {
        func text<Key>(_ type: Key.Type) -> String { Self.plainText(of: bytes.key(as: type)) }
        return box?.plainText ?? _openExistential(type, do: text)
    }

    /// Returns the text of a key that is available without running code of the client, not even its hash.
    @usableFromInline
    static func plainText<Key>(of key: Key) -> String {
        switch key {
        case let key as String: key
        case let key as Int: String(key)
        case let key as UInt: String(key)
        case let key as Int64: String(key)
        case let key as UInt64: String(key)
        case let key as Int32: String(key)
        case let key as UInt32: String(key)
        case let key as any WrappingKey: key.plainText
        default: caseName(of: key) ?? String(describing: Key.self)
        }
    }

    // MARK: Comparing

    /// The hash of the original key. This value is not hashed again, because it already comes from a hasher.
    @export(implementation) package var hashValue: Int { hash }

    @export(implementation)
    package static func == (one: _ErasedKey, other: _ErasedKey) -> Bool {
        guard one.hash == other.hash, one.type == other.type else { return false }
        guard one.bytes.bits == other.bytes.bits else { return one.equals(other) }
        // A key in `bytes` may have a box for its text.
        guard let box = one.box, let otherBox = other.box, box !== otherBox else { return true }
        return box.equals(otherBox)
    }

    /// Returns whether two keys that are stored in `bytes` are equal by the `==` of their type. Called if their bytes
    /// differ: such keys are rarely equal, but 0.0 and -0.0 are.
    @usableFromInline
    @inline(never)
    func equals(_ other: _ErasedKey) -> Bool {
        func equals<Key: Hashable>(_ type: Key.Type) -> Bool { bytes.key(as: type) == other.bytes.key(as: type) }
        // The cast succeeds in a call that the client makes with a key, also for a conformance that is isolated to an actor. To keep the conformance
        // with the key would cost each key a word, and each task hundreds of instructions.
        guard let type = type as? any Hashable.Type else { return false }
        return equals(type)
    }

    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    /// The text of a key that is stored in `bytes`, or the superclass of the object that holds a key.
    ///
    /// Sendable, because its only stored property is a constant of a Sendable type.
    @usableFromInline class Box: @unchecked Sendable {
        @usableFromInline final let text: String?

        @export(implementation) init(text: String? = nil) { self.text = text }

        /// Returns whether the key of another box, which must have the same type, is equal to the key of this box. Keys
        /// that are stored in `bytes` were compared before.
        @export(implementation) func equals(_ other: Box) -> Bool { true }

        @export(implementation) func withText() -> Box { self }

        @export(implementation) var plainText: String? { nil }
    }

    // Sendable, because its stored property is a constant, which is used only in calls that the client makes with a key.
    @usableFromInline final class TypedBox<Key: Hashable>: Box, @unchecked Sendable {
        @usableFromInline let key: Key

        @export(implementation) init(_ key: Key, text: String? = nil) {
            self.key = key
            super.init(text: text)
        }

        @export(implementation) override func equals(_ other: Box) -> Bool {
            key == unsafeDowncast(other, to: TypedBox.self).key
        }

        @export(implementation) override func withText() -> Box {
            TypedBox(key, text: key as? String ?? String(describing: key))
        }

        @export(implementation) override var plainText: String? { _ErasedKey.plainText(of: key) }
    }
}

/// A key of this package that contains a client's key.
@usableFromInline
package protocol WrappingKey {
    /// The text of the client's key that is available without running code of the client.
    var plainText: String { get }
}

/// The key of a table that has only one key, which no event shows.
struct OnlyKey: Hashable, Sendable {}
