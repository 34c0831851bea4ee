/// The identity of an element of a ``SlotTable``: its slot and its serial number. A ticket does not match another
/// element that uses the slot later: a serial number is repeated only after 2³⁸ others.
///
/// A ticket is stored in one word, because each stack frame of a waiting task has a copy, and these frames must fit
/// into the memory that the runtime allocates for each task.
@usableFromInline
package struct Ticket: Hashable, Sendable {
    @usableFromInline package typealias Slot = Int32

    private let bits: UInt64
    private static var slotBits: UInt64 { 26 }

    init(serial: UInt64, slot: Slot) {
        insist(
            slot >> Self.slotBits == 0,
            "TaskControl holds at most \(1 << Self.slotBits) tasks in one place. Wait until some have ended."
        )
        bits = serial << Self.slotBits | UInt64(slot)
    }

    /// The number that identifies the element in events: the lowest 38 bits of its serial number.
    var number: UInt64 { bits >> Self.slotBits }

    var slot: Slot { Slot(truncatingIfNeeded: bits & ((1 << Self.slotBits) - 1)) }

    /// Returns whether `serial` is the serial number with which the ticket was created. Serial numbers that differ by a
    /// multiple of 2³⁸ are not distinguished.
    func has(serial: UInt64) -> Bool { bits >> Self.slotBits == (serial << Self.slotBits) >> Self.slotBits }
}
