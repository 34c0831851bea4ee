import TestSupport
import Testing

@testable import TaskControlTesting

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct FlatArrayTests {
    /// Random changes have the same effect as on an array of the standard library.
    @Test func changesAgreeWithThoseOfAnArray() {
        var random = SeededGenerator(seed: 1)
        var flat = FlatArray<Int>()
        var model: [Int] = []
        for change in 0..<20_000 {
            let index = Int(random.next() % UInt64(max(model.count, 1)))
            switch random.next() % 8 {
            case 0, 1, 2:
                flat.append(change)
                model.append(change)
            case 3:
                flat.insert(change, at: index)
                model.insert(change, at: index)
            case 4 where !model.isEmpty: #expect(flat.remove(at: index) == model.remove(at: index))
            case 5 where !model.isEmpty: #expect(flat.removeLast() == model.removeLast())
            case 6 where !model.isEmpty:
                flat[index] += 1
                model[index] += 1
                flat.swapAt(index, 0)
                model.swapAt(index, 0)
            case 7 where change % 50 == 0:
                flat.removeFirst(index)
                model.removeFirst(model.isEmpty ? 0 : index)
            default: break
            }
            #expect(flat.count == model.count && flat.isEmpty == model.isEmpty)
            if change % 100 == 0 { for index in model.indices { #expect(flat[index] == model[index]) } }
        }
    }

    @Test func anArrayOfZerosCanGrow() {
        var zeros = FlatArray<Int>(zeros: 20)
        for index in 0..<20 { #expect(zeros[index] == 0) }
        zeros.append(7)
        #expect(zeros.count == 21 && zeros[19] == 0 && zeros[20] == 7)
    }
}

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct CompactNumberTests {
    @Test(arguments: [nil, 0, 1, 128, Int(Int32.max)]) func aNumberIsReadAsItWasWritten(number: Int?) {
        let compact = CompactNumber(number)
        #expect(compact.value == number)
        for other in [0, 1, 128, Int(Int32.max)] { #expect(compact.isEqual(to: other) == (number == other)) }
    }

    /// A tape keeps all numbers, whatever their number of bytes.
    @Test func aTapeReturnsItsNumbersInOrder() {
        let numbers = (0..<64).flatMap { [UInt64(1) << $0, (1 << $0) - 1, .max >> $0] }
        var tape = NumberTape()
        for number in numbers { tape.append(number) }
        tape.append(-7)
        var position = 0
        for number in numbers { #expect(tape.number(at: &position) == number) }
        #expect(tape.integer(at: &position) == -7)
        #expect(position == tape.end)
    }

    /// There are as many of these as tasks or jobs, and the memory of a simulation is mostly theirs.
    @Test(.enabled(if: MemoryLayout<Int>.size == 8)) func anItemOfAScheduleHas32Bytes() {
        #expect(MemoryLayout<CompactNumber>.size == 4)
        #expect(MemoryLayout<ScheduleStateMachine.Item>.stride == 32)
    }
}

@Suite(.timeLimit(.minutes(15)))
struct TaskNumbersTests {
    @Test func everyIDHasItsNumber() {
        var numbers = TaskNumbers()
        // Neighbors, and IDs that differ only in their upper bits, which collide.
        let ids = (1...500 as ClosedRange<UInt64>).flatMap { [$0, $0 << 20, $0 << 40 | 1] }
        for (number, id) in ids.enumerated() where numbers[id] == nil { numbers.insert(number, for: id) }
        for (number, id) in ids.enumerated() { #expect(numbers[id] == ids.firstIndex(of: id) ?? number) }
        #expect(numbers[501] == nil && numbers[1 << 60] == nil)
    }
}
