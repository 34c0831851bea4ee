/// Identifies an element of a table: its slot, and its serial there. An element that has left is not found again: a serial is reused only after
/// 2³⁸ others.
///
/// In one word, since every frame of a task that waits has a copy, and such a task must fit into the memory that every task has.
struct Ticket: Hashable, Sendable {
    typealias Slot = Int32

    private let bits: UInt64
    private static var slotBits: UInt64 { 26 }

    init(serial: UInt64, slot: Slot) {
        insist(slot >> Self.slotBits == 0, "TaskControl holds at most \(1 << Self.slotBits) tasks in one place.")
        bits = serial << Self.slotBits | UInt64(slot)
    }

    /// The number that identifies it in events: its serial, as far as that is distinct from others.
    var number: UInt64 { bits >> Self.slotBits }

    var slot: Slot { Slot(truncatingIfNeeded: bits & ((1 << Self.slotBits) - 1)) }

    /// Whether it was made with this serial, or one that is 2³⁸ away from it.
    func has(serial: UInt64) -> Bool { bits >> Self.slotBits == (serial << Self.slotBits) >> Self.slotBits }
}
