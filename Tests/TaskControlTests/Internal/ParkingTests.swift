import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct ParkingTests {
    private enum Event: CaseIterable { case park, reach, leave }

    /// Every sequence of four events: the first outcome is the only one, and reaches the waiter once.
    @Test func everyWaiterReceivesTheFirstOutcomeOnce() {
        func search(_ parking: Parking, hasParked: Bool, outcome: WaitOutcome?, depth: Int) {
            #expect(parking.isWaiting == (outcome == nil))
            guard depth > 0 else { return }
            for event in Event.allCases {
                var parking = parking
                switch event {
                case .park:
                    // A waiter parks once.
                    if hasParked { continue }
                    #expect(parking.park(7) == outcome)
                    search(parking, hasParked: true, outcome: outcome, depth: depth - 1)
                case .reach, .leave:
                    let new: WaitOutcome = event == .reach ? .reached : .left
                    #expect(parking.settle(with: new) == (hasParked && outcome == nil ? 7 : nil))
                    search(parking, hasParked: hasParked, outcome: outcome ?? new, depth: depth - 1)
                }
            }
        }
        search(.expected, hasParked: false, outcome: nil, depth: 4)
    }

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func aWaiterThatParksTwiceTraps() async {
        await #expect(processExitsWith: .failure) {
            var parking = Parking.expected
            _ = parking.park(1)
            _ = parking.park(2)
        }
    }
    #endif

    /// The table of waiters: those in the chain have not been settled, and those that have parked or received their result leave the table.
    @Test func aSettledWaiterStaysInTheTableUntilItHasParked() {
        struct Entry: WaiterEntry {
            let serial: UInt64
            var links = Links()
            var parking = Parking.expected
        }
        var (table, chain) = (SlotTable<Entry>(), Chain())
        let tickets = (0..<3).map { serial in
            let slot = table.insert(Entry(serial: UInt64(serial)))
            chain.append(slot, in: &table)
            return table.ticket(at: slot)
        }
        #expect(table.park(tickets[1], 1) == nil)
        #expect(table.settle(tickets[0].slot, of: &chain, with: .reached) == nil)
        #expect(table.settle(tickets[1].slot, of: &chain, with: .left) == 1)
        #expect(chain.slots(in: table) == [tickets[2].slot])
        #expect(table.contains(tickets[0]) && !table.isWaiting(tickets[0]) && !table.contains(tickets[1]))
        #expect(table.park(tickets[0], 0) == .reached)
        #expect(table.count == 1 && table.isWaiting(tickets[2]))
    }
}
