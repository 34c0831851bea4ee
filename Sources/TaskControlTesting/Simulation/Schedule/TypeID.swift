/// A type as a trivial value: a metatype is none for the compiler.
struct TypeID: BitwiseCopyable {
    private let pointer: UnsafeRawPointer

    init(_ type: any Any.Type) {
        // A metatype is one pointer, which is never deallocated.
        pointer = unsafeBitCast(type, to: UnsafeRawPointer.self)
    }

    var type: any Any.Type { unsafeBitCast(pointer, to: Metatype.self) }

    private typealias Metatype = any Any.Type
}
