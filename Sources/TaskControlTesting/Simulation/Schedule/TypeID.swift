/// The identity of a type, as a trivial value. (The compiler does not consider a metatype trivial.)
struct TypeID: BitwiseCopyable {
    private let pointer: UnsafeRawPointer

    init(_ type: any Any.Type) {
        // A metatype is one pointer, which is never deallocated.
        pointer = unsafeBitCast(type, to: UnsafeRawPointer.self)
    }

    /// Creates the ID of a type from the ``bits`` of another ID of the same type.
    init(bits: UInt64) {
        pointer = UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: bits))!
    }

    var bits: UInt64 { UInt64(UInt(bitPattern: pointer)) }

    var type: any Any.Type { unsafeBitCast(pointer, to: Metatype.self) }

    private typealias Metatype = any Any.Type
}
