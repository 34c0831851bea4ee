private import CTaskControl

/// The address of a task that lives, which identifies it.
package struct TaskAddress: Hashable, Sendable {
    private let bits: UInt

    init(bits: UInt) { self.bits = bits }

    /// The running task.
    package static var running: Self { Self(bits: UInt(bitPattern: tc_runningTask())) }

    var pointer: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: bits) }
}
