import Foundation
import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct ResponseStreamTests {
    private func client(_ chunks: [String], type: String? = nil, failure: (any Error)? = nil) -> EndpointClient {
        let headers = type.map { ["Content-Type": $0] } ?? [:]
        let chunks = chunks.map { Data($0.utf8) }
        return EndpointClient(
            ScriptedTransport(ScriptedTransport.Reply(headers: headers, chunks: chunks, failure: failure))
        )
    }

    @Test func linesAreReadAcrossChunks() async throws {
        let lines = try await client(["a\r", "\nb", "", "c\n\nlä", "st"]).withResponse(to: Checked()) { response in
            var lines: [String] = []
            for try await line in response.lines { lines.append(line) }
            return lines
        }
        #expect(lines == ["a", "bc", "", "läst"])
    }

    @Test func eventsAreReadAcrossChunks() async throws {
        let client = client(
            ["event: added\nda", "ta: 1\r", "\n\n", "data: 2"],
            type: "Text/Event-Stream; charset=utf-8"
        )
        let events = try await client.withResponse(to: Checked()) { response in
            var events: [ServerSentEvent] = []
            for try await event in response.events { events.append(event) }
            return events
        }
        #expect(events == [ServerSentEvent(type: "added", data: "1")])
    }

    /// The values that a client needs to connect again are reported with and without an event, before the event, and once.
    @Test func anIDAndADelayWithoutAnEventAreReported() async throws {
        let client = client(
            ["retry: 500\n\nid: 1\ndata: a\n\n: idle\nid: 1\n\nid: 2\n", "\ndata: b\n\nid\n\nid: 3\nretry: 7\n"],
            failure: URLError(.networkConnectionLost)
        )
        var seen: [String] = []
        let error = await thrown {
            try await client.withResponse(to: Checked()) { response in
                let events = response.events { id, retry in
                    seen.append("\(id ?? "-") \(retry?.components.attoseconds ?? -1)")
                }
                for try await event in events { seen.append(event.data + (event.id ?? "-")) }
            }
        }
        let (half, seven) = ("500000000000000000", "7000000000000000")
        #expect(seen == ["- \(half)", "1 \(half)", "a1", "2 \(half)", "b2", "- \(half)", "- \(seven)"])
        #expect((error as? EndpointError)?.reason == .transport)
    }

    @Test func aResponseOfAnotherTypeIsNoEventStream() async throws {
        let error = await #expect(throws: EndpointError.self) {
            try await client(["data: 1\n\n"], type: "text/html").withResponse(to: Checked()) { response in
                for try await _ in response.events { Issue.record("an event") }
            }
        }
        #expect(error?.reason == .content)
    }

    @Test func aStreamThatBreaksOffThrows() async throws {
        let client = client(["data: 1\n\ndata: 2\n"], failure: URLError(.networkConnectionLost))
        var seen = 0
        let error = await thrown {
            try await client.withResponse(to: Checked()) { response in
                for try await _ in response.events { seen += 1 }
            }
        }
        #expect((error as? EndpointError)?.reason == .transport)
        #expect(seen == 1)
    }

    @Test func aLineOrAnEventOverTheLimitThrowsAndEnds() async throws {
        try await client(["abc\nabcd\nabc\n"]).withResponse(to: Checked()) { response in
            var lines = response.lines(maxBytes: 3).makeAsyncIterator()
            // The lines before it arrive, however the body was cut into parts.
            let first = try await lines.next()
            #expect(first == "abc")
            let error = await thrown { _ = try await lines.next() } as? EndpointError
            #expect(error?.reason == .bodyTooLarge)
            let next = try await lines.next()
            #expect(next == nil)
        }
        try await client(["id: 7\ndata: paid\n\ndata: 0123456789ABCDEF\n\n"]).withResponse(to: Checked()) { response in
            var events = response.events(maxBytes: 10).makeAsyncIterator()
            let event = try await events.next()
            #expect(event?.id == "7")
            #expect(await (thrown { _ = try await events.next() } as? EndpointError)?.reason == .bodyTooLarge)
        }
        try await client(["data: ab\n", "data: cd\n\n"]).withResponse(to: Checked()) { response in
            var events = response.events(maxBytes: 8).makeAsyncIterator()
            let event = try await events.next()
            #expect(event?.data == "ab\ncd")
        }
        try await client(["data: abcd\n", "data: efgh\n", "data: i\n\n"]).withResponse(to: Checked()) { response in
            var events = response.events(maxBytes: 10).makeAsyncIterator()
            #expect(await (thrown { _ = try await events.next() } as? EndpointError)?.reason == .bodyTooLarge)
            let next = try await events.next()
            #expect(next == nil)
        }
    }

    @Test func theResponseOfAnUploadIsReadAsItArrives() async throws {
        let transport = ScriptedTransport(
            ScriptedTransport.Reply(status: 503),
            ScriptedTransport.Reply(chunks: [Data("a\n".utf8), Data("b\n".utf8)])
        )
        let client = EndpointClient(transport, policies: ClientPolicies(retry: HTTPRetryPolicy(backoff: .none)))
        let sent = OrderRecorder<TransferProgress>()
        let lines = try await client.withResponse(to: Upload(body: .data(Data("body".utf8)))) {
            sent.record($0)
        } _: { response in
            var lines: [String] = []
            for try await line in response.lines { lines.append(line) }
            return lines
        }
        #expect(lines == ["a", "b"])
        #expect(transport.sent.events.map(\.body) == [Data("body".utf8), Data("body".utf8)])
        #expect(sent.events.last?.received == 4)
        await #expect(throws: EndpointError.self) {
            try await EndpointClient(ScriptedTransport(.status(507))).withResponse(
                to: Upload(body: .data(Data()))
            ) {
                _ in Issue.record("a response")
            }
        }
    }
}
