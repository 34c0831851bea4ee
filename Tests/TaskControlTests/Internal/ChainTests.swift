import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct ChainTests {
    /// Every sequence of up to nine events with up to five elements agrees with an array.
    @Test func everyShortSequenceAgreesWithAnArray() {
        let steps = ChainDriver().playEverySequence(upTo: 9) { $0.possibleEvents(elements: 5) }
        #expect(steps > 1_000)
    }

    /// Long programs with many elements, which the search above does not reach.
    @Test(arguments: Schedules.seeds(20, inDebug: 5))
    func longRandomSequencesAgreeWithAnArray(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = ChainDriver()
        for _ in 0..<400 { driver.play(driver.possibleEvents(elements: 60).randomElement(using: &random)!) }
    }
}

/// An event of one of two chains of one table.
private enum ChainEvent: Hashable {
    case append(chain: Int)
    /// An element leaves its chain, and the table.
    case remove(Chain.Slot)
    /// An element leaves its chain for the other one.
    case move(Chain.Slot)
}

private struct ChainDriver: MachineDriver {
    private struct Element: Ticketed, Linked {
        let serial: UInt64
        var links = Links()
    }

    private var table = SlotTable<Element>()
    private var chains = [Chain(), Chain()]
    private var model: [[Chain.Slot]] = [[], []]
    private var nextSerial: UInt64 = 0
    private var tickets: [Chain.Slot: Ticket] = [:]
    private var gone: [Ticket] = []

    var signature: Int { model.hashValue }

    func possibleEvents(elements: Int) -> [ChainEvent] {
        let slots = model.flatMap { $0 }
        let events: [ChainEvent] = slots.map { .remove($0) } + slots.map { .move($0) }
        return slots.count < elements ? events + [.append(chain: 0), .append(chain: 1)] : events
    }

    mutating func play(_ event: ChainEvent) {
        switch event {
        case .append(let chain):
            let slot = table.insert(Element(serial: nextSerial))
            nextSerial += 1
            tickets[slot] = table.ticket(at: slot)
            append(slot, to: chain)
        case .remove(let slot):
            _ = remove(slot)
            #expect(table[slot].links.older == Chain.none && table[slot].links.newer == Chain.none)
            table.discard(slot)
            gone.append(tickets.removeValue(forKey: slot)!)
        case .move(let slot):
            let chain = remove(slot)
            append(slot, to: 1 - chain)
        }
        for (chain, slots) in zip(chains, model) {
            chain.checkLinks(in: table)
            #expect(chain.slots(in: table) == slots)
            #expect(chain.isEmpty == slots.isEmpty)
            #expect(chain.first == slots.first ?? Chain.none && chain.last == slots.last ?? Chain.none)
        }
        #expect(tickets.allSatisfy { table.contains($0.value) && $0.value.slot == $0.key })
        #expect(!gone.contains { table.contains($0) }, "an element that has left is not found, whatever has its slot")
    }

    private mutating func append(_ slot: Chain.Slot, to chain: Int) {
        chains[chain].append(slot, in: &table)
        model[chain].append(slot)
    }

    /// - Returns: The chain that the element was in.
    private mutating func remove(_ slot: Chain.Slot) -> Int {
        let chain = model[0].contains(slot) ? 0 : 1
        chains[chain].remove(slot, in: &table)
        model[chain].removeAll { $0 == slot }
        return chain
    }
}
