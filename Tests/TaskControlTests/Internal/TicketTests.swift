import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct TicketTests {
    @Test func itTellsTheSerialsOfOneSlotApart() {
        let ticket = Ticket(serial: 5, slot: 1 << 26 - 1)
        #expect(ticket.slot == 1 << 26 - 1)
        #expect(ticket.has(serial: 5))
        #expect(!ticket.has(serial: 4) && !ticket.has(serial: 6) && !ticket.has(serial: 5 + 1 << 37))
        // After 274,877,906,944 others.
        #expect(ticket.has(serial: 5 + 1 << 38))
    }

    @Test func itComparesItsSerialWithOthersThatAreNear() {
        let ticket = Ticket(serial: 5, slot: 3)
        #expect(ticket.isUpTo(serial: 5) && ticket.isUpTo(serial: 6) && ticket.isUpTo(serial: 5 + 1 << 36))
        #expect(!ticket.isUpTo(serial: 4) && !ticket.isUpTo(serial: 0))
        // Serials go on beyond what a ticket has of them.
        let late = Ticket(serial: 1 << 38 - 1, slot: 3)
        #expect(late.isUpTo(serial: 1 << 38 - 1) && late.isUpTo(serial: 1 << 38))
        #expect(!late.isUpTo(serial: 1 << 38 - 2))
    }

    #if SUBPROCESSES
    @Test func aTableHasAnEnd() async {
        await #expect(processExitsWith: .failure) { _ = Ticket(serial: 1, slot: 1 << 26) }
    }
    #endif
}
