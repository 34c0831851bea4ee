private import CTaskControl

/// The address of a task, which identifies the task until it ends.
package struct TaskAddress: Hashable, Sendable {
    private let bits: UInt

    init(bits: UInt) { self.bits = bits }

    /// The address of the current task; zero outside tasks.
    package static var running: Self { Self(bits: UInt(bitPattern: tc_runningTask())) }

    /// The hash, computed by one multiplication instead of a `Hasher`: addresses are looked up often, and an attacker
    /// cannot choose them.
    package var hashValue: Int { Int(truncatingIfNeeded: (UInt64(bits >> 4) &* 0x9e37_79b9_7f4a_7c15) >> 24) }

    package func hash(into hasher: inout Hasher) { hasher.combine(bits) }

    var pointer: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: bits) }
}
