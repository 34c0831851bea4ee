/// An unretained reference to an object that the holder of this value retains by another reference.
///
/// To use the object of an ordinary property, Swift retains and releases it, which takes longer than the small step of a policy for which this type
/// is used. KeptReferenceTests checks the type.
@usableFromInline
package struct KeptReference<Object: AnyObject>: @unchecked Sendable {
    // Sendable: this is the address of an object that is Sendable, as `init` requires, and nothing changes it. The holder keeps the object alive.
    @usableFromInline let object: Unmanaged<Object>

    @inlinable
    package init(_ object: Object) where Object: Sendable { self.object = .passUnretained(object) }

    /// Calls a function with the object, which must not have been deallocated.
    @inlinable
    @inline(__always)
    package func with<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
        try object._withUnsafeGuaranteedRef(body)
    }
}
