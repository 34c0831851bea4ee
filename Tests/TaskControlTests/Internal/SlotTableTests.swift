import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct SlotTableTests {
    /// Random insertions and removals against a dictionary.
    @Test(arguments: Schedules.seeds(20, inDebug: 4))
    func agreesWithADictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = SlotTable<UInt64>()
        var model: [SlotTable<UInt64>.Index: UInt64] = [:]
        for step in 0..<3_000 {
            let isGrowing = (step / 300).isMultiple(of: 2)
            if model.isEmpty || random.next() % 10 < (isGrowing ? 7 : 3) {
                let value = random.next()
                let index = table.insert(value)
                #expect(model.updateValue(value, forKey: index) == nil)
            } else {
                let index = model.keys.sorted().randomElement(using: &random)!
                #expect(table[index] == model[index])
                #expect(table.remove(index) == model.removeValue(forKey: index))
                #expect(!table.isOccupied(index))
            }
            #expect(table.count == model.count)
            #expect(table.extent >= model.count)
        }
        for index in model.keys { _ = table.remove(index) }
        #expect(table.isEmpty && table.extent == 0)
        #expect(!table.isOccupied(0) && !table.isOccupied(-1))
    }

    @Test func vacantSlotsAreFilledBeforeNewOnesAreMade() {
        var table = SlotTable<Int>()
        let indexes = (0..<100).map { table.insert($0) }
        for index in indexes.prefix(50) { _ = table.remove(index) }
        for number in 0..<50 { _ = table.insert(number) }
        #expect(table.extent == 100)
    }

    @Test func oneSurvivorKeepsNoVacancies() {
        var table = SlotTable<Int>()
        let indexes = (0..<10_000).map { table.insert($0) }
        for index in indexes.dropFirst() { _ = table.remove(index) }
        #expect(table.count == 1 && table.extent == 1)
        #expect(table.capacity <= 256)
    }

    /// The vacant slots were filled again, so that none of them is at the end of the table.
    @Test func aBurstOfVacanciesLeavesNothingBehind() {
        var table = SlotTable<Int>()
        let indexes = (0..<10_000).map { table.insert($0) }
        for index in indexes.prefix(9_000) { _ = table.remove(index) }
        for number in 0..<9_000 { _ = table.insert(number) }
        for index in indexes.dropFirst().reversed() { _ = table.remove(index) }
        #expect(table.count == 1 && table.extent == 1)
        #expect(table.capacity <= 256)
    }
}
