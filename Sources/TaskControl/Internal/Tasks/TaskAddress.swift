private import CTaskControl

/// The address of a task that lives, which identifies it.
package struct TaskAddress: Hashable, Sendable {
    private let bits: UInt

    init(bits: UInt) { self.bits = bits }

    /// The running task.
    package static var running: Self { Self(bits: UInt(bitPattern: tc_runningTask())) }

    /// Addresses need no protection from chosen keys, and are looked up often: one multiplication instead of a keyed hash.
    package var hashValue: Int { Int(truncatingIfNeeded: UInt64(bits >> 4) &* 0x9e37_79b9_7f4a_7c15 >> 24) }

    package func hash(into hasher: inout Hasher) { hasher.combine(bits) }

    var pointer: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: bits) }
}
