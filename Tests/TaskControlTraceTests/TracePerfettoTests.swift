import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlTrace

/// The JSON, read back.
@Suite(.timeLimit(.minutes(15)))
struct TracePerfettoTests {
    static let nasty = [
        "</script><script>document.title = 'owned'</script>", "<!-- <script>",
        "]]> & \"quoted\" 'single' \\ back\\u0041",
        "null \u{0} bell \u{7} tab \t line \n\r", "\u{2028}\u{2029}\u{7f}",
        "𝄞 👩‍👩‍👧 é e\u{301} \u{202e}right to left",
        "<img src=x onerror=\"document.title = 'owned'\">",
    ]

    private func slices(_ model: TraceModel) throws -> [[String: Any]] {
        let text = model.text(as: .perfetto, title: "t")
        let root = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        return try #require(root["traceEvents"] as? [[String: Any]])
    }

    @Test func ownersAreProcessesLanesAreThreadsAndBarsAreSlices() throws {
        var recording = Recording()
        recording.turn(10, (0, 2, 7), named: "uploads", task: "one", end: .failed, error: "no")
        recording.turn(11, (1, 7, 9), task: "two")
        recording.tell(.fifoQueue, .cancelled, at: 1, of: 11, in: 1)
        recording.tell(.fifoQueue, .cancelledAll, at: 1, in: 1)
        let events = try slices(recording.model())
        let names = events.filter { $0["name"] as? String == "process_name" }.map {
            ($0["args"] as? [String: Any])?["name"]
        }
        #expect(names.last as? String == "FIFOQueue \"uploads\" #1")
        #expect(events.filter { $0["name"] as? String == "thread_name" }.count == 2)
        let slices = events.filter { $0["ph"] as? String == "X" }
        #expect(
            slices.map { "\($0["name"]!) \($0["tid"]!) \($0["ts"]!) \($0["dur"]!)" } == [
                "one 1 0 7000", "waiting 1 0 2000", "running 1 2000 5000", "two 2 1000 8000", "waiting 2 1000 6000",
                "running 2 7000 2000",
            ]
        )
        let arguments = try #require(slices[0]["args"] as? [String: Any])
        #expect(arguments["error"] as? String == "no" && arguments["state"] as? String == "failed")
    }

    @Test func whateverAStringHoldsTheJSONIsValidAndSaysTheSame() throws {
        var recording = Recording()
        for (index, name) in Self.nasty.enumerated() {
            recording.turn(UInt64(index), (0, 1, 2), named: name, task: name, end: .failed, error: name)
        }
        let slices = try slices(recording.model()).filter { $0["cat"] as? String == "FIFOQueue" }
        #expect(slices.map { $0["name"] as? String } == Self.nasty)
        #expect(slices.map { ($0["args"] as? [String: Any])?["error"] as? String } == Self.nasty)
        // Neither ends a script nor begins a tag, wherever it stands.
        #expect(!recording.model().text(as: .perfetto, title: Self.nasty[0]).contains("<"))
    }

    @Test func timesAreExactToTheNanosecond() {
        let times: [Int64] = [0, 1, 10, 999, 1_000, 1_001, 123_456_789_012_345, -1_500, -7]
        var text = ""
        for time in times {
            var part = TraceText<Never> { text += String(decoding: copy $0, as: UTF8.self) + " " }
            part.putMicroseconds(time)
            part.finish()
        }
        #expect(text == "0 0.001 0.010 0.999 1 1.001 123456789012.345 -1.500 -0.007 ")
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func slicesOfAThreadAreDisjointOrWithinEachOther(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var recording = Recording()
        for subject in 0..<100 as Range<UInt64> {
            let begin = Int.random(in: 0..<200, using: &random)
            let start = begin + Int.random(in: 0...9, using: &random)
            recording.turn(subject, (begin, start, start + Int.random(in: 0...9, using: &random)), in: subject % 3)
        }
        var open: [String: [Double]] = [:]
        for slice in try slices(recording.model()) where slice["ph"] as? String == "X" {
            let (thread, begin) = ("\(slice["pid"]!)/\(slice["tid"]!)", slice["ts"] as! Double)
            let end = begin + (slice["dur"] as! Double)
            var stack = open[thread, default: []]
            while let last = stack.last, last <= begin { stack.removeLast() }
            #expect(stack.allSatisfy { end <= $0 })
            open[thread] = stack + [end]
        }
        #expect(open.count >= 3)
    }

    @Test func whatFellOutIsTold() throws {
        var recording = Recording()
        for subject in 0..<10 as Range<UInt64> { recording.turn(subject, (0, 1, 2)) }
        let events = try slices(recording.model(capacity: 5))
        #expect(events.contains { $0["name"] as? String == "35 earlier events were dropped" })
    }
}
