import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct LineTableTests {
    /// Random calls agree with a dictionary of the users of each key.
    @Test(arguments: Schedules.seeds(200, inDebug: 40))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (table, lines, lastLine) = (LineTable<Int>(), [Int: Int](), 0)
        var users: [(key: Int, slot: LineTable<Int>.Slot)] = []
        for _ in 0..<200 {
            if Bool.random(using: &random), let index = users.indices.randomElement(using: &random) {
                let (key, slot) = users.remove(at: index)
                let isLast = !users.contains { $0.key == key }
                #expect(table.leave(slot)?.line == (isLast ? lines[key] : nil), "the last user takes the line along")
                if isLast { lines[key] = nil }
            } else {
                let key = Int.random(in: 0..<6, using: &random)
                var entered = table.enter(_ErasedKey(key))
                #expect(entered?.line == lines[key], "a line is there while it has users")
                if entered == nil || Bool.random(using: &random) {
                    if let entered { users.append((key, entered.slot)) }
                    lastLine += 1
                    let line = table.enter(_ErasedKey(key), adding: lastLine)
                    #expect(line.line == lines[key] ?? lastLine, "a key has one line")
                    entered = line
                }
                lines[key] = entered!.line
                users.append((key, entered!.slot))
            }
            #expect(table.count == lines.count)
        }
    }
}
