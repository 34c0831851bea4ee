import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct KeyTableTests {
    private struct Key: Hashable {
        let number: Int
        /// Few hashes, so that many keys are in one bucket.
        let hash: Int

        func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    }

    private struct Element: Keyed, Hashable {
        let key: Key
        var value: UInt64
        var nextInBucket = Chain.none
    }

    /// Random insertions, changes and removals against a dictionary, with as many hashes as keys, and with few.
    @Test(arguments: Schedules.seeds(20, inDebug: 4), [1, 5, 1_000])
    func agreesWithADictionary(seed: UInt64, hashes: Int) {
        var random = SeededGenerator(seed: seed)
        var table = KeyTable<Element>()
        var model: [Key: (index: KeyTable<Element>.Index, value: UInt64)] = [:]
        for step in 0..<2_000 {
            let isGrowing = (step / 400).isMultiple(of: 2)
            let number = Int(random.next() % 400)
            let key = Key(number: number, hash: number % hashes)
            #expect(table.index(of: key) == model[key]?.index)
            if let (index, value) = model[key] {
                #expect(table[index].key == key && table[index].value == value)
                if isGrowing {
                    table[index].value += 1
                    model[key]!.value += 1
                } else {
                    let removed = table.remove(index)
                    #expect(removed.key == key && removed.value == value)
                    model[key] = nil
                    #expect(!table.isOccupied(index) && table.index(of: key) == nil)
                }
            } else if isGrowing {
                let value = random.next() / 2
                model[key] = (table.insert(Element(key: key, value: value)), value)
            }
            #expect(table.count == model.count && table.isEmpty == model.isEmpty)
        }
        for (key, entry) in model { #expect(table.index(of: key) == entry.index) }
        for entry in model.values { _ = table.remove(entry.index) }
        #expect(table.isEmpty && table.extent == 0)
    }

    @Test func aBurstLeavesNothingBehind() {
        var table = KeyTable<Element>()
        let indexes = (0..<10_000).map { table.insert(Element(key: Key(number: $0, hash: $0), value: 0)) }
        for index in indexes.shuffled().dropLast() { _ = table.remove(index) }
        #expect(table.count == 1)
        let last = (0..<10_000).compactMap { table.index(of: Key(number: $0, hash: $0)) }
        #expect(last.count == 1)
        _ = table.remove(last[0])
        #expect(table.capacity <= 256)
    }
}
