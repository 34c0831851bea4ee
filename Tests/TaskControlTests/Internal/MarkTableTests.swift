import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct MarkTableTests {
    /// Random events, compared with a list that is searched through.
    @Test(arguments: Schedules.seeds(50, inDebug: 10))
    func waitersAreResumedByMarkAndThenInOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = MarkTable<Int>()
        var model: [(mark: Int, number: Int, id: MarkTable<Int>.ID)] = []
        for number in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let mark = Int.random(in: 0..<20, using: &random)
                let id = table.enroll(for: mark)
                let outcome = table.park(id, Word(number))
                #expect(outcome == nil)
                let index = model.lastIndex { $0.mark <= mark }.map { $0 + 1 } ?? 0
                model.insert((mark, number, id), at: index)
            case 5..<8:
                guard let index = model.indices.randomElement(using: &random) else { continue }
                let leaver = model.remove(at: index)
                let (waiter, late) = (table.leave(leaver.id), table.leave(leaver.id))
                #expect(waiter?.number == leaver.number && late == nil, "a late event finds nothing")
            case 8:
                guard !model.isEmpty else { continue }
                let (first, expected) = (table.wakeFirst(), model.removeFirst().number)
                #expect(first?.number == expected)
            default:
                let value = Int.random(in: 0..<20, using: &random)
                let woken = model.filter { $0.mark <= value }.map(\.number)
                model.removeAll { $0.mark <= value }
                let answer = table.wake(upTo: value)
                #expect(answer.map(\.number) == woken)
            }
            #expect(table.count == model.count && table.lowest == model.first?.mark)
        }
    }

    /// In quadratic time this exceeds the time limit of the suite.
    @Test func manyWaitersMayLeaveNewestFirst() {
        var table = MarkTable<Int>()
        let ids = (0..<fullSize(100_000, inDebug: 20_000)).map { table.enroll(for: $0) }
        for (number, id) in ids.enumerated() { _ = table.park(id, Word(number)) }
        for id in ids.reversed() { _ = table.leave(id) }
        #expect(table.count == 0)
        #expect(table.capacity <= 256, "a burst leaves nothing behind")
    }

    @Test func aBurstWithOneSurvivorLeavesNothingBehind() {
        var table = MarkTable<Int>()
        let ids = (0..<10_000).map { table.enroll(for: $0) }
        for (number, id) in ids.enumerated() { _ = table.park(id, Word(number)) }
        let woken = table.wake(upTo: 9_998)
        #expect(woken.count == 9_999)
        #expect(table.count == 1 && table.lowest == 9_999)
        // The waiters' table keeps the places before the survivor.
        _ = table.wakeFirst()
        #expect(table.capacity <= 256)
    }
}
