import Foundation
import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct DownloadTests: DownloadSuite {
    @Test func aRetryContinuesWhatTheAttemptBeforeHasReceived() async throws {
        try await withFile { file, _ in
            let transport = transport(Self.half, .init(503), Self.rest)
            let progress = OrderRecorder<TransferProgress>()
            let head = try await client(transport, attempts: 3).download(Checked(), to: file) { progress.record($0) }
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
            #expect(head.statusCode == 206)
            #expect(ranges(transport) == [nil, "bytes=4-", "bytes=4-"])
            let last = try #require(transport.requests.last)
            #expect(last.value(forHTTPHeaderField: "If-Range") == "\"a\"")
            #expect(last.value(forHTTPHeaderField: "Accept-Encoding") == "identity")
            #expect(progress.events.last == TransferProgress(received: 10, expectedToReceive: 10))
            #expect(try files(beside: file) == ["book.txt"])
        }
    }

    @Test func withoutAValidatorARetryBeginsAnew() async throws {
        try await withFile { file, _ in
            var half = Self.half
            half.headers["ETag"] = "W/\"a\""
            let transport = transport(half, Self.other)
            try await client(transport, attempts: 2).download(Checked(), to: file)
            #expect(try Data(contentsOf: file) == Data("other".utf8))
            #expect(ranges(transport) == [nil, nil])
        }
    }

    @Test func aFailedCallLeavesNothingWithoutAResumption() async throws {
        try await withFile { file, _ in
            let transport = transport(Self.half)
            await #expect(throws: EndpointError.self) { try await client(transport).download(Checked(), to: file) }
            let left = try files(beside: file)
            #expect(left.isEmpty)
            #expect(transport.requests[0].value(forHTTPHeaderField: "Accept-Encoding") == nil)
        }
    }

    @Test func aLaterCallContinues() async throws {
        try await withFile { file, resumption in
            let transport = transport(Self.half, .init(404), Self.rest)
            let client = client(transport)
            for bytes in [4, 4] as [Int64] {
                await #expect(throws: EndpointError.self) {
                    try await client.download(Checked(), to: file, resuming: resumption)
                }
                #expect(resumption.receivedBytes == bytes)
                #expect(try files(beside: file) == ["book.txt.partial", "book.txt.partial.resume"])
            }
            try await client.download(Checked(), to: file, resuming: resumption)
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
            #expect(ranges(transport) == [nil, "bytes=4-", "bytes=4-"])
            #expect(try files(beside: file) == ["book.txt"])
            #expect(resumption.receivedBytes == nil)
        }
    }

    @Test func anotherRepresentationBeginsAnew() async throws {
        try await withFile { file, resumption in
            let client = client(transport(Self.half, Self.other))
            await #expect(throws: EndpointError.self) {
                try await client.download(Checked(), to: file, resuming: resumption)
            }
            try await client.download(Checked(), to: file, resuming: resumption)
            #expect(try Data(contentsOf: file) == Data("other".utf8))
        }
    }

    /// Each of these is followed by a request without a range, also without a policy for retries.
    @Test(arguments: [
        MockTransport.Response(416, headers: ["Content-Range": "bytes */3"]),
        .init(206, headers: ["Content-Range": "bytes 3-9/10", "ETag": "\"a\""], body: Data("3456789".utf8)),
        .init(206, headers: ["Content-Range": "bytes 4-9/10", "ETag": "\"b\""], body: Data("456789".utf8)),
        .init(206, headers: ["Content-Range": "bytes 4-9/*", "ETag": "\"a\""], body: Data("456789".utf8)),
        // Without the tag, which a server must repeat: perhaps of another representation.
        .init(206, headers: ["Content-Range": "bytes 4-9/10"], body: Data("456789".utf8)),
        .init(206, headers: ["Content-Type": "multipart/byteranges; boundary=x", "ETag": "\"a\""]),
    ])
    func aServerThatCannotContinueIsAskedForEverything(response: MockTransport.Response) async throws {
        try await withFile { file, resumption in
            let transport = transport(Self.half, response, Self.other)
            let attempts = OrderRecorder<Int?>()
            let client = EndpointClient(transport) { _, head, _, _ in attempts.record(head?.statusCode) }
            await #expect(throws: EndpointError.self) {
                try await client.download(Checked(), to: file, resuming: resumption)
            }
            try await client.download(Checked(), to: file, resuming: resumption)
            #expect(try Data(contentsOf: file) == Data("other".utf8))
            #expect(ranges(transport) == [nil, "bytes=4-", nil])
            #expect(attempts.events == [200, response.status, 200])
        }
    }

    /// A server that sends the rest with the status of the whole. The next request has no range.
    @Test(
        arguments: [1, 2],
        [
            ["Content-Range": "bytes 4-9/10", "Content-Length": "6", "ETag": "\"a\""],
            ["Content-Range": "bytes 4-9/10", "Content-Length": "6"], ["Content-Length": "6", "ETag": "\"a\""],
            ["ETag": "\"a\""], [:],
        ]
    )
    func theRestWithTheStatusOfTheWholeIsNotTheFile(attempts: Int, headers: [String: String]) async throws {
        try await withFile { file, resumption in
            let rest = MockTransport.Response(200, headers: headers, body: Data("456789".utf8))
            let whole = MockTransport.Response(headers: ["Content-Length": "10"], body: Data("0123456789".utf8))
            let transport = transport(Self.half, rest, whole)
            let client = client(transport, attempts: attempts)
            if attempts == 1 {
                await #expect(throws: EndpointError.self) {
                    try await client.download(Checked(), to: file, resuming: resumption)
                }
            }
            try await client.download(Checked(), to: file, resuming: resumption)
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
            #expect(ranges(transport) == [nil, "bytes=4-", nil])
        }
    }

    @Test func aPartThatWasNotRequestedFailsWithAReason() async throws {
        try await withFile { file, resumption in
            for status in [200, 206] {
                let part = MockTransport.Response(status, headers: Self.rest.headers, body: Data("456789".utf8))
                let transport = transport(part, part)
                let error = await #expect(throws: EndpointError.self) {
                    try await client(transport, attempts: 2).download(Checked(), to: file, resuming: resumption)
                }
                #expect(error?.reason == .content && error?.statusCode == status)
                #expect(error?.description.contains("a part of the content, which was not requested") == true)
                #expect(transport.requests.count == 1)
                let left = try files(beside: file)
                #expect(left.isEmpty)
            }
        }
    }

    @Test func aDateContinuesAPartOnlyIfThatIsAskedFor() async throws {
        let headers = [
            "Content-Length": "10", "Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT",
            "Date": "Wed, 21 Oct 2015 09:28:00 GMT",
        ]
        let half = MockTransport.Response(
            headers: headers,
            chunks: [Data("0123".utf8)],
            failure: URLError(.networkConnectionLost)
        )
        let whole = MockTransport.Response(headers: headers, body: Data("0123456789".utf8))
        let rest = MockTransport.Response(206, headers: ["Content-Range": "bytes 4-9/10"], body: Data("456789".utf8))
        for trusts in [false, true] {
            for attempts in [1, 2] {
                try await withFile { file, _ in
                    let resumption = DownloadResumption.beside(file, trustsModificationDates: trusts)
                    let transport = transport(half, trusts ? rest : whole)
                    let client = client(transport, attempts: attempts)
                    if attempts == 1 {
                        await #expect(throws: EndpointError.self) {
                            try await client.download(Checked(), to: file, resuming: resumption)
                        }
                        #expect(resumption.receivedBytes == (trusts ? 4 : nil))
                    }
                    try await client.download(Checked(), to: file, resuming: resumption)
                    #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
                    #expect(ranges(transport) == [nil, trusts ? "bytes=4-" : nil])
                }
            }
        }
        try await withFile { file, _ in
            let server = transport(half, whole)
            try await client(server, attempts: 2).download(Checked(), to: file)
            #expect(ranges(server) == [nil, nil], "also within a call")
        }
        // A part that was kept while dates were trusted.
        try await withFile { file, resumption in
            await #expect(throws: EndpointError.self) {
                try await client(transport(half))
                    .download(Checked(), to: file, resuming: .beside(file, trustsModificationDates: true))
            }
            #expect(resumption.receivedBytes == nil)
            let server = transport(whole)
            try await client(server).download(Checked(), to: file, resuming: resumption)
            #expect(ranges(server) == [nil])
        }
    }

    @Test func aRangeThatIsShorterThanAskedIsContinued() async throws {
        try await withFile { file, resumption in
            let part = MockTransport.Response(
                206,
                headers: ["Content-Range": "bytes 4-5/10", "ETag": "\"a\""],
                body: Data("45".utf8)
            )
            let end = MockTransport.Response(
                206,
                headers: ["Content-Range": "bytes 6-9/10", "ETag": "\"a\""],
                body: Data("6789".utf8)
            )
            let transport = transport(Self.half, part, end)
            try await client(transport, attempts: 3).download(Checked(), to: file, resuming: resumption)
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
            #expect(ranges(transport) == [nil, "bytes=4-", "bytes=6-"])
        }
    }

    @Test func aBodyThatIsTooLongFailsAndIsNotKept() async throws {
        try await withFile { file, resumption in
            var long = Self.rest
            long.chunks = [Data("456789x".utf8)]
            let error = await #expect(throws: EndpointError.self) {
                try await client(transport(Self.half, long), attempts: 3)
                    .download(Checked(), to: file, resuming: resumption)
            }
            #expect(error?.reason == .content)
            let left = try files(beside: file)
            #expect(left.isEmpty)
        }
    }

    @Test func aPartOfAnotherURLIsNotContinued() async throws {
        try await withFile { file, resumption in
            let transport = transport(Self.half, .init(404), Self.other)
            let client = client(transport)
            for path in ["one", "two"] {
                await #expect(throws: EndpointError.self) {
                    try await client.download(Checked(path: path), to: file, resuming: resumption)
                }
                // A call that fails without content changes nothing.
                #expect(resumption.receivedBytes == 4)
            }
            try await client.download(Checked(path: "two"), to: file, resuming: resumption)
            #expect(ranges(transport) == [nil, nil, nil])
            #expect(try Data(contentsOf: file) == Data("other".utf8))
        }
    }

    @Test func aDownloadThatCannotBeContinuedLeavesNothing() async throws {
        try await withFile { file, resumption in
            var half = Self.half
            half.headers["ETag"] = nil
            let transport = transport(half)
            await #expect(throws: EndpointError.self) {
                try await client(transport).download(Checked(), to: file, resuming: resumption)
            }
            let left = try files(beside: file)
            #expect(left.isEmpty)
            #expect(transport.requests[0].value(forHTTPHeaderField: "Accept-Encoding") == "identity")
        }
    }

    @Test func aCompletePartAsksForItsLastByte() async throws {
        try await withFile { file, resumption in
            let last = MockTransport.Response(
                206,
                headers: ["Content-Range": "bytes 9-9/10", "ETag": "\"a\""],
                body: Data("9".utf8)
            )
            let transport = transport(Self.half, last)
            let client = client(transport)
            await #expect(throws: EndpointError.self) {
                try await client.download(Checked(), to: file, resuming: resumption)
            }
            // A process that ended before the file was in its place.
            try Data("0123456789".utf8).write(to: resumption.partialFile)
            try await client.download(Checked(), to: file, resuming: resumption)
            #expect(ranges(transport).last == "bytes=9-")
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
        }
    }

    @Test func aPartWithoutItsRecordIsNotContinued() async throws {
        try await withFile { file, resumption in
            try Data("0123456789".utf8).write(to: resumption.partialFile)
            #expect(resumption.receivedBytes == nil)
            let transport = transport(Self.other)
            try await client(transport).download(Checked(), to: file, resuming: resumption)
            #expect(ranges(transport) == [nil])
            #expect(try Data(contentsOf: file) == Data("other".utf8))
            #expect(try files(beside: file) == ["book.txt"])
        }
    }

    @Test func cancellingKeepsThePart() async throws {
        try await withFile { file, resumption in
            let gate = Gate()
            let client = EndpointClient(HangingTransport())
            let task = Task {
                try await client.download(Checked(), to: file, resuming: resumption) { _ in gate.open() }
            }
            try await gate.wait()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(resumption.receivedBytes == 4)
            try resumption.discard()
            let left = try files(beside: file)
            #expect(left.isEmpty)
            try resumption.discard()
        }
    }

    /// Sends 4 bytes of 10, and then nothing until the caller is cancelled.
    private struct HangingTransport: HTTPTransport {
        func withResponse<Value>(
            to request: HTTPTransportRequest,
            _ receive: (HTTPTransportResponse) async throws -> Value
        ) async throws -> Value {
            let headers = ["Content-Length": "10", "ETag": "\"a\""]
            let url = request.request.url!
            let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: headers)!
            var chunks = [Data("0123".utf8)]
            return try await receive(
                HTTPTransportResponse(
                    head: head,
                    body: HTTPResponseBody {
                        if let chunk = chunks.popLast() { return chunk }
                        try await Gate().wait()
                        return nil
                    }
                )
            )
        }
    }

    @Test func aPartIsOfOneDownloadAtATime() async throws {
        try await withFile { file, resumption in
            let (started, gate) = (Gate(), Gate())
            let first = MockTransport.responding { request in
                guard request.url?.path.hasSuffix("slow") == true else { return Self.other }
                return Self.half
            }
            let client = client(first)
            await #expect(throws: EndpointError.self) {
                try await client.download(Checked(path: "slow"), to: file, resuming: resumption)
            }
            let holder = MockTransport.responding { _ in
                started.open()
                try await gate.wait()
                return Self.rest
            }
            async let held = self.client(holder).download(Checked(path: "slow"), to: file, resuming: resumption)
            try await started.wait()
            let error = await #expect(throws: CocoaError.self) {
                try await client.download(Checked(), to: file, resuming: resumption)
            }
            #expect(error?.code == .fileLocking)
            gate.open()
            _ = try await held
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
        }
    }

    @Test func anEndpointWithARangeOfItsOwnGetsWhatItAskedFor() async throws {
        struct Part: Endpoint {
            typealias Content = Data
            func makeRequest() throws -> URLRequest {
                var request = URLRequest(url: URL(string: "part")!)
                request.setValue("bytes=4-9", forHTTPHeaderField: "Range")
                return request
            }
        }
        try await withFile { file, resumption in
            let transport = transport(Self.rest)
            try await client(transport).download(Part(), to: file, resuming: resumption)
            #expect(try Data(contentsOf: file) == Data("456789".utf8))
            #expect(ranges(transport) == ["bytes=4-9"])
        }
    }

    @Test func aPartThatWasNotAskedForFails() async throws {
        try await withFile { file, _ in
            let error = await #expect(throws: EndpointError.self) {
                try await client(transport(Self.rest)).download(Checked(), to: file)
            }
            #expect(error?.statusCode == 206)
            let left = try files(beside: file)
            #expect(left.isEmpty)
        }
    }

    @Test func aDeviceIsNotWrittenToTwice() async throws {
        let transport = transport(Self.half, Self.other)
        await #expect(throws: EndpointError.self) {
            try await client(transport, attempts: 3).download(Checked(), to: URL(fileURLWithPath: "/dev/null"))
        }
        #expect(transport.requests.count == 1)
    }

    /// A server that breaks off each connection after 100,000 bytes, over each transport.
    @Test(arguments: TransportUnderTest.allCases)
    func aServerThatBreaksOffIsContinuedOverTheWire(transport: TransportUnderTest) async throws {
        let content = (0..<450_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        let server = try RawServer { connection, request in
            let start = request["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let part = content[start...].prefix(100_000)
            var head = start == 0 ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 206 Partial Content\r\n"
            if start > 0 { head += "Content-Range: bytes \(start)-\(content.count - 1)/\(content.count)\r\n" }
            head += "ETag: \"a\"\r\nContent-Length: \(content.count - start)\r\n\r\n"
            guard start == 0 || request["If-Range"] == "\"a\"" else { return connection.close() }
            try connection.send(head)
            try connection.send(Array(part))
            connection.close()
        }
        try await withFile { file, resumption in
            let client = EndpointClient(
                requestAdapter: BaseURLAdapter(baseURL: server.url()),
                transport: transport.make(),
                policies: ClientPolicies(retry: HTTPRetryPolicy(attempts: 2, backoff: .none))
            )
            // AsyncHTTPClient drops what it has received and not passed on when a connection breaks: each call continues with less.
            let most = transport == .urlSession ? 3 : 60
            var calls = 0
            while calls < most {
                calls += 1
                do {
                    try await client.download(Checked(), to: file, resuming: resumption)
                    break
                } catch let error as EndpointError {
                    #expect(error.reason == .transport)
                }
            }
            #expect(try Data(contentsOf: file) == Data(content))
        }
    }
}
