private import CTaskControl

/// The address of a task that lives, which identifies it.
package struct TaskAddress: Hashable, Sendable {
    private let bits: UInt

    init(bits: UInt) { self.bits = bits }

    /// The running task.
    package static var running: Self { Self(bits: UInt(bitPattern: tc_runningTask())) }

    /// An address for an object that stands between tasks and their caller: see `CancellationCauses.record(_:forCall:of:)`.
    package init(standIn object: AnyObject) {
        self.init(bits: UInt(bitPattern: ObjectIdentifier(object)))
    }

    var pointer: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: bits) }
}
