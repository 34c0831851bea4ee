/// An unretained reference to an object. The code that holds this value must retain the object by another reference.
///
/// To use an object that is stored in an ordinary property, Swift retains and releases the object, which takes longer
/// than the short calls for which this type is used. KeptReferenceTests checks the type.
@usableFromInline
package struct KeptReference<Object: AnyObject>: @unchecked Sendable {
    // Sendable, because the object is Sendable, as `init` requires, and the reference is constant. The code that holds
    // this value retains the object.
    @usableFromInline let object: Unmanaged<Object>

    @export(implementation)
    package init(_ object: Object) where Object: Sendable { self.object = .passUnretained(object) }

    /// Calls a function with the object, which must not have been deallocated.
    @export(implementation)
    @inline(__always)
    package func with<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
        try object._withUnsafeGuaranteedRef(body)
    }
}
