import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct PartBufferTests {
    @Test(arguments: 0..<10 as Range<UInt64>)
    func agreesWithAnArray(seed: UInt64) {
        var (random, parts, model) = (SeededGenerator(seed: seed), PartBuffer<Int>(), [Int]())
        for step in 0..<2_000 {
            // Grows slowly, then shrinks slowly, in turn.
            let choices = (step / 500).isMultiple(of: 2) ? 3 : 2
            if Int.random(in: 0..<choices, using: &random) == 0 {
                let (first, expected) = (parts.removeFirst(), model.first)
                model = Array(model.dropFirst())
                #expect(first == expected)
            } else {
                parts.append(step, bytes: step)
                model.append(step)
            }
            #expect(parts.isEmpty == model.isEmpty && parts.bytes == model.reduce(0, +))
        }
    }
}
