/// The bytes of a key that consists of nothing but at most eight of them: a copy retains nothing.
@usableFromInline
struct _KeyBytes: Hashable, Sendable {
    @usableFromInline var bits: UInt64 = 0

    /// No bytes.
    @inlinable init() {}

    /// The bytes of a key whose type `canHold(_:)`.
    @inlinable
    @inline(__always)
    init<Key>(of key: Key) {
        withUnsafeMutableBytes(of: &bits) { bits in
            withUnsafeBytes(of: key) { bits.copyMemory(from: $0) }
        }
    }

    /// Returns the key, in the type that it had. (ErasedKeyTests reads keys of several types.)
    func key<Key>(as type: Key.Type) -> Key {
        withUnsafeBytes(of: bits) { $0.load(as: type) }
    }

    /// Returns whether each value of a type is nothing but at most eight bytes.
    @inlinable
    @inline(__always)
    static func canHold<Key>(_ type: Key.Type) -> Bool {
        _isPOD(type) && MemoryLayout<Key>.size <= 8 && MemoryLayout<Key>.alignment <= 8
    }
}
