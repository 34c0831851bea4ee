internal import CTaskControl

/// Reports a closure that receives results for an owner and has no isolation, if the call that passes it was made on the main actor: the closure runs
/// on any thread, and the owner is nearly always a class that belongs to the main actor, such as an `ObservableObject` of a program in the language
/// mode 5, in which the compiler does not say so. Each type of owner is reported once per function.
///
/// A service that is called on other threads is right to receive its results anywhere.
///
/// - Parameters:
///   - owner: The type of the owner.
///   - origin: The function that was called.
@inline(never)
package func reportUnisolatedDelivery(to owner: Any.Type, in origin: TaskOrigin) {
    guard tc_isMainQueue() else { return }
    guard Diagnostics.isFirstReport("\(origin.name) \(ObjectIdentifier(owner))") else { return }
    let text = "\(origin.name)(for: \(owner))"
    Diagnostics.report(
        TaskEvent(origin.primitive, .deliveredAnywhere, taskName: Diagnostics.currentTaskName, detail: text),
        advice:
            "\(text): the closure that receives the result has no isolation, so it runs on any thread, although the call was made on the main "
            + "actor. Make \(owner) @MainActor, or write the isolation of the closure: { @MainActor owner, value in … }"
    )
}

/// Does the same as `reportUnisolatedDelivery(to:in:)`, for code that is inlined into clients.
@usableFromInline
@inline(never)
func _reportUnisolatedDelivery(to owner: Any.Type, in origin: _WorkOrigin) {
    reportUnisolatedDelivery(to: owner, in: origin.origin)
}
