import Foundation
import TestSupport
import Testing

@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct EventStreamStateMachineTests {
    private func events(_ chunks: [[UInt8]], limit: Int? = nil) throws -> [ServerSentEvent] {
        var (lines, machine) = (LineStateMachine(limit: limit), EventStreamStateMachine(limit: limit))
        var events: [ServerSentEvent] = []
        for chunk in chunks {
            for line in try lines.receive(chunk) {
                if let event = try machine.receive(line) { events.append(event) }
            }
        }
        return events
    }

    private func events(_ text: String) throws -> [ServerSentEvent] { try events([Array(text.utf8)]) }

    /// A stream, and its events.
    private static let streams: [(String, [ServerSentEvent])] = [
        ("", []),
        ("\n\n\n", []),
        ("data: a\n\n", [ServerSentEvent(data: "a")]),
        ("data:a\n\n", [ServerSentEvent(data: "a")]),
        ("data:  a \n\n", [ServerSentEvent(data: " a ")]),
        ("data\n\n", [ServerSentEvent(data: "")]),
        ("data\ndata\n\n", [ServerSentEvent(data: "\n")]),
        ("data: a\ndata: b\ndata:\n\n", [ServerSentEvent(data: "a\nb\n")]),
        ("data: a:b: c\n\n", [ServerSentEvent(data: "a:b: c")]),
        // The end drops what is incomplete.
        ("data: a\n\ndata: b\n", [ServerSentEvent(data: "a")]),
        ("data: a", []),
        // Comments and unknown fields.
        (": keep-alive\n\n:\n\ndata: a\n: inside\nother: x\nDATA: x\n data: x\n\n", [ServerSentEvent(data: "a")]),
        // Types end with their event, also with one that has no data.
        (
            "event: added\ndata: a\n\ndata: b\n\nevent: x\n\ndata: c\n\nevent: y\nevent\ndata: d\n\n",
            [
                ServerSentEvent(type: "added", data: "a"), ServerSentEvent(data: "b"), ServerSentEvent(data: "c"),
                ServerSentEvent(data: "d"),
            ]
        ),
        // IDs persist, can be reset, and have no NUL.
        (
            "id: 1\ndata: a\n\ndata: b\n\nid: 2\n\ndata: c\n\nid: 3\0\ndata: d\n\nid\ndata: e\n\n",
            [
                ServerSentEvent(data: "a", id: "1"), ServerSentEvent(data: "b", id: "1"),
                ServerSentEvent(data: "c", id: "2"), ServerSentEvent(data: "d", id: "2"), ServerSentEvent(data: "e"),
            ]
        ),
        // Delays are digits only.
        (
            "retry: 100\ndata: a\n\nretry: 1x\nretry: -1\nretry:\nretry: +2\ndata: b\n\nretry: 99999999999999999999\ndata: c\n\n",
            [
                ServerSentEvent(data: "a", retry: .milliseconds(100)),
                ServerSentEvent(data: "b", retry: .milliseconds(100)),
                ServerSentEvent(data: "c", retry: .milliseconds(3_155_760_000_000)),
            ]
        ),
        // A byte order mark is dropped at the beginning only.
        ("\u{FEFF}data: a\n\ndata: b\n\n", [ServerSentEvent(data: "a"), ServerSentEvent(data: "b")]),
        ("data: a\n\n\u{FEFF}data: b\n\n", [ServerSentEvent(data: "a")]),
        ("\u{FEFF}\u{FEFF}data: a\n\n", []),
        ("data: \u{FEFF}é\u{1F980}\n\n", [ServerSentEvent(data: "\u{FEFF}é\u{1F980}")]),
        // Other ends of lines of Unicode are text.
        ("data: a\u{2028}b\u{0B}c\u{85}d\n\n", [ServerSentEvent(data: "a\u{2028}b\u{0B}c\u{85}d")]),
    ]

    @Test(arguments: streams.indices)
    func eachStreamInEachNotationAtAllBoundaries(_ index: Int) throws {
        let (text, expected) = Self.streams[index]
        for end in ["\n", "\r", "\r\n"] {
            let bytes = Array(text.replacing("\n", with: end).utf8)
            for cut in 0...bytes.count {
                #expect(try events([Array(bytes[..<cut]), Array(bytes[cut...])]) == expected)
            }
            #expect(try events(bytes.map { [$0] }) == expected)
        }
    }

    @Test func endsOfLinesMayBeMixed() throws {
        let expected = [ServerSentEvent(data: "a\nb"), ServerSentEvent(data: "c")]
        #expect(try events("data: a\rdata: b\r\n\ndata: c\n\r") == expected)
        #expect(try events("data: a\r\ndata: b\r\rdata: c\r\n\r\n") == expected)
    }

    @Test func bytesThatAreNotUTF8AreReplaced() throws {
        #expect(try events([Array("data: ".utf8), [0xFF], Array("\n\n".utf8)]) == [ServerSentEvent(data: "\u{FFFD}")])
    }

    @Test func dataOverTheLimitThrows() throws {
        let text = Array("data: 1234567890\ndata: 1\n".utf8)
        #expect(try events([text], limit: 16) == [])
        #expect(throws: EventStreamStateMachine.EventTooLong()) {
            try events([text, Array("data: 1234\n".utf8)], limit: 16)
        }
    }

    /// All streams of up to five lines of a few kinds, by an interpretation of the whole text.
    @Test func allShortStreams() throws {
        let kinds = ["", "data: x", "data", "event: e", "id: i", ": c"]
        var streams: [[String]] = [[]]
        for _ in 0..<5 { streams += streams.flatMap { stream in kinds.map { stream + [$0] } } }
        for stream in Set(streams) {
            var expected: [ServerSentEvent] = []
            var id: String?
            // Each block ends with an empty line; what follows the last one is incomplete.
            for block in stream.split(separator: "", omittingEmptySubsequences: false).dropLast() {
                if block.contains("id: i") { id = "i" }
                let data = block.filter { $0.hasPrefix("data") }.map { $0 == "data" ? "" : "x" }
                if data.isEmpty { continue }
                let type = block.contains("event: e") ? "e" : "message"
                expected.append(ServerSentEvent(type: type, data: data.joined(separator: "\n"), id: id))
            }
            #expect(try events(stream.map { $0 + "\n" }.joined()) == expected)
        }
    }

    /// All streams of up to five lines of a few kinds: an ID counts from the end of its block on, a delay at once, and
    /// neither needs data.
    @Test func theLastIDAndTheDelayNeedNoEvent() throws {
        let kinds = ["", "data: x", "id: i", "id", "retry: 5", "retry: x"]
        var streams: [[String]] = [[]]
        for _ in 0..<5 { streams += streams.flatMap { stream in kinds.map { stream + [$0] } } }
        for stream in Set(streams) {
            var machine = EventStreamStateMachine(limit: nil)
            var (id, next, retry): (String?, String?, Duration?) = (nil, nil, nil)
            for line in stream {
                let event = try machine.receive(Array(line.utf8))
                switch line {
                case "": id = next
                case "id: i": next = "i"
                case "id": next = nil
                case "retry: 5": retry = .milliseconds(5)
                default: break
                }
                #expect(machine.resumption == .init(id: id, retry: retry))
                if let event { #expect(event.id == id && event.retry == retry) }
            }
        }
    }
}
