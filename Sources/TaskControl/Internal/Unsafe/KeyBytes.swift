/// The value of a key whose type is trivial (its values contain no references) and has at most eight bytes. A copy
/// retains no object.
@usableFromInline
struct _KeyBytes: Hashable, Sendable {
    @usableFromInline var bits: UInt64 = 0

    /// Creates a value without bytes, for a key that is stored elsewhere.
    @export(implementation) init() {}

    /// Stores a key, for whose type ``canHold(_:)`` must return `true`.
    @export(implementation)
    @inline(__always)
    init<Key>(of key: Key) {
        withUnsafeMutableBytes(of: &bits) { bits in
            withUnsafeBytes(of: key) { bits.copyMemory(from: $0) }
        }
    }

    /// Returns the key.
    ///
    /// - Parameter type: The type of the key with which this value was created, which is not checked.
    func key<Key>(as type: Key.Type) -> Key {
        withUnsafeBytes(of: bits) { $0.load(as: type) }
    }

    /// Returns whether a type is trivial and has at most eight bytes, so that this struct can hold its values.
    @export(implementation)
    @inline(__always)
    static func canHold<Key>(_ type: Key.Type) -> Bool {
        _isPOD(type) && MemoryLayout<Key>.size <= 8 && MemoryLayout<Key>.alignment <= 8
    }
}
