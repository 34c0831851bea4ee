import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct StreamingTests {
    private static let reply = ScriptedTransport.Reply(
        headers: ["Content-Length": "6"],
        chunks: [Data("one".utf8), Data("two".utf8)]
    )

    @Test func aResponseIsReadAsItArrives() async throws {
        let client = EndpointClient(ScriptedTransport(Self.reply))
        let chunks = try await client.withResponse(to: Checked()) { response in
            #expect(response.head.statusCode == 200)
            var chunks: [String] = []
            for try await chunk in response.body { chunks.append(String(decoding: chunk, as: UTF8.self)) }
            return chunks
        }
        #expect(chunks == ["one", "two"])
    }

    @Test func aResponseThatIsNotAsHopedIsValidatedWithItsFirstBytes() async throws {
        let error = await #expect(throws: EndpointError.self) {
            try await EndpointClient(ScriptedTransport(.status(404, "gone"))).withResponse(to: Checked()) { _ in
                Issue.record("is given")
            }
        }
        #expect(error?.bodyPrefix == "gone")
    }

    @Test func whoLooksAtTheFirstBytesTakesNothingAway() async throws {
        let client = EndpointClient(ScriptedTransport(ScriptedTransport.Reply(status: 404, chunks: Self.reply.chunks)))
        let text = try await client.withResponse(to: Text()) { response in
            var text = ""
            for try await chunk in response.body { text += String(decoding: chunk, as: UTF8.self) }
            return text
        }
        #expect(text == "onetwo")
    }

    @Test func whatTheReceiverThrowsArrivesAsItIsAndIsNotRetried() async throws {
        let transport = ScriptedTransport(Self.reply)
        let client = EndpointClient(transport, policies: ClientPolicies(retry: HTTPRetryPolicy()))
        await #expect(throws: Mishap()) { try await client.withResponse(to: Text()) { _ in throw Mishap() } }
        await #expect(throws: URLError.self) {
            try await client.withResponse(to: Text()) { _ in throw URLError(.timedOut) }
        }
        #expect(transport.sent.count == 2)
    }

    @Test func aStatusThatMayPassIsTriedAgainBeforeTheBodyIsGiven() async throws {
        let retry = HTTPRetryPolicy(backoff: .none)
        let transport = ScriptedTransport(.status(503, "busy"), Self.reply)
        let client = EndpointClient(transport, policies: ClientPolicies(retry: retry))
        let status = try await client.withResponse(to: Text()) { $0.head.statusCode }
        #expect(status == 200)
        #expect(transport.sent.count == 2)
    }

    @Test func aBodyThatBreaksOffThrows() async throws {
        let reply = ScriptedTransport.Reply(chunks: [Data("one".utf8)], failure: URLError(.networkConnectionLost))
        let error = await #expect(throws: EndpointError.self) {
            try await EndpointClient(ScriptedTransport(reply)).withResponse(to: Text()) { response in
                for try await _ in response.body {}
            }
        }
        #expect(error?.reason == .transport)
        #expect(error?.url == "http://h/api/text")
    }

    @Test func aDownloadIsAFileWhenAllIsThere() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("book.txt")
            try Data("before".utf8).write(to: file)
            let told = OrderRecorder<TransferProgress>()
            let client = EndpointClient(ScriptedTransport(Self.reply))
            let head = try await client.download(Checked(), to: file) { told.record($0) }
            #expect(head.statusCode == 200)
            #expect(try Data(contentsOf: file) == Data("onetwo".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["book.txt"])
            #expect(told.events.map(\.received) == [0, 3, 6])
            #expect(told.events.last?.fractionReceived == 1)
        }
    }

    @Test func aDownloadThatFailsLeavesNothingAndTouchesNothing() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("book.txt")
            try Data("before".utf8).write(to: file)
            let cut = ScriptedTransport.Reply(chunks: [Data("one".utf8)], failure: URLError(.networkConnectionLost))
            for reply in [cut, .status(404, "gone"), .unreachable()] {
                await #expect(throws: EndpointError.self) {
                    try await EndpointClient(ScriptedTransport(reply)).download(Text(), to: file)
                }
            }
            #expect(try Data(contentsOf: file) == Data("before".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["book.txt"])
            await #expect(throws: CocoaError.self) {
                try await EndpointClient(ScriptedTransport(Self.reply)).download(
                    Text(),
                    to: folder.appendingPathComponent("no/book.txt")
                )
            }
        }
    }

    @Test(arguments: [0o600, 0o640, 0o755, 0o444])
    func aDownloadKeepsThePermissionsOfWhatItReplaces(_ mode: Int) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("book.txt")
            try Data("before".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            try await EndpointClient(ScriptedTransport(Self.reply)).download(Checked(), to: file)
            #expect(try Data(contentsOf: file) == Data("onetwo".utf8))
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
        }
    }

    /// Links of links, also to where nothing is yet.
    @Test(arguments: [true, false])
    func aDownloadFollowsALink(_ exists: Bool) async throws {
        try await withFolder { folder in
            let inner = folder.appendingPathComponent("inner")
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
            let file = inner.appendingPathComponent("book.txt")
            if exists { try Data("before".utf8).write(to: file) }
            let (link, other) = (
                folder.appendingPathComponent("link").path, folder.appendingPathComponent("other").path
            )
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "other")
            try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: file.path)
            try await EndpointClient(ScriptedTransport(Self.reply)).download(Checked(), to: URL(fileURLWithPath: link))
            #expect(try Data(contentsOf: file) == Data("onetwo".utf8))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "other")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: other) == file.path)
            #expect(try FileManager.default.contentsOfDirectory(atPath: inner.path) == ["book.txt"])
        }
    }

    @Test func aDownloadIntoALinkThatLeadsToItselfFails() async throws {
        try await withFolder { folder in
            let link = folder.appendingPathComponent("link")
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "link")
            let error = await #expect(throws: CocoaError.self) {
                try await EndpointClient(ScriptedTransport(Self.reply)).download(Text(), to: link)
            }
            #expect((error?.underlying as? POSIXError)?.code == .ELOOP)
        }
    }

    @Test func aDownloadIntoAPipeGoesThrough() async throws {
        try await withFolder { folder in
            let pipe = folder.appendingPathComponent("pipe").path
            try #require(mkfifo(pipe, 0o600) == 0)
            // For both, so that neither waits for the other.
            let reader = try #require(FileHandle(forUpdatingAtPath: pipe))
            try await EndpointClient(ScriptedTransport(Self.reply)).download(Text(), to: URL(fileURLWithPath: pipe))
            #expect(try reader.read(upToCount: 6) == Data("onetwo".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["pipe"])
        }
    }

    @Test func aDownloadThatCannotTakeItsPlaceSaysWhy() async throws {
        try await withFolder { folder in
            let taken = folder.appendingPathComponent("taken")
            try FileManager.default.createDirectory(at: taken, withIntermediateDirectories: true)
            let error = await #expect(throws: CocoaError.self) {
                try await EndpointClient(ScriptedTransport(Self.reply)).download(Text(), to: taken)
            }
            #expect((error?.underlying as? POSIXError)?.code == .EISDIR)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["taken"])
        }
    }

    @Test func aBodyIsNotAskedAgainAfterItsEndOrItsError() async throws {
        // Not a variable: what a closure adds to one before it throws, the optimizer of Swift 6.3.1 has been seen to lose.
        let asked = OrderRecorder<String>()
        var end = HTTPResponseBody {
            asked.record("at the end")
            return nil
        }.makeAsyncIterator()
        for _ in 0..<3 { #expect(try await end.next() == nil) }
        var failure = HTTPResponseBody {
            asked.record("at an error")
            throw Mishap()
        }.makeAsyncIterator()
        await #expect(throws: Mishap()) { try await failure.next() }
        #expect(try await failure.next() == nil)
        #expect(asked.events == ["at the end", "at an error"])
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "taskcontrol-\(UInt64.random(in: 0 ... .max))"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }
}
