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

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func aTableHasAnEnd() async {
        await #expect(processExitsWith: .failure) { _ = Ticket(serial: 1, slot: 1 << 26) }
    }
    #endif
}
