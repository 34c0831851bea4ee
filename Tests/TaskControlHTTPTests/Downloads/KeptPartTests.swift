import Foundation
import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

/// The effect of a call on a part that another call, or an earlier attempt, has received.
@Suite(.timeLimit(.minutes(15)))
struct KeptPartTests: DownloadSuite {
    /// Rejects the page of a network that asks for a login, which has the status 200.
    private struct Guarded: Endpoint {
        typealias Content = Data

        func makeRequest() throws -> URLRequest { get("checked") }

        func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws {
            if response.value(forHTTPHeaderField: "Content-Type") == "text/html" { throw EndpointError(.content) }
        }
    }

    private static var loginPage: MockTransport.Response {
        .init(headers: ["Content-Type": "text/html", "ETag": "\"login\""], body: Data("login".utf8))
    }

    /// A call receives a part, and another one gets these responses and is offline then: the part is continued.
    @Test(arguments: [
        [], [MockTransport.Response(416, headers: ["Content-Range": "bytes */3"])],
        [.init(206, headers: ["Content-Range": "bytes 4-9/10", "ETag": "\"b\""], body: Data("456789".utf8))],
        [loginPage], [.init(503), loginPage],
    ])
    func aPartStaysUntilItIsWrittenTo(responses: [MockTransport.Response]) async throws {
        try await withFile { file, resumption in
            await #expect(throws: EndpointError.self) {
                try await client(transport(Self.half)).download(Guarded(), to: file, resuming: resumption)
            }
            let rest = Locked(responses)
            let offline = MockTransport.responding { _ in
                guard let response = rest.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
                    throw URLError(.notConnectedToInternet)
                }
                return response
            }
            await #expect(throws: EndpointError.self) {
                try await client(offline, attempts: 2).download(Guarded(), to: file, resuming: resumption)
            }
            #expect(resumption.receivedBytes == 4)
            try await client(transport(Self.rest)).download(Guarded(), to: file, resuming: resumption)
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
        }
    }

    /// One call receives a part, and gets these responses in its next attempts: a later call continues the part.
    @Test(arguments: [
        [MockTransport.Response(416, headers: ["Content-Range": "bytes */3"])],
        [.init(206, headers: ["Content-Range": "bytes 4-9/10", "ETag": "\"b\""], body: Data("456789".utf8))],
        [loginPage],
    ])
    func aPartOfTheSameCallStaysUntilAnotherTakesItsPlace(responses: [MockTransport.Response]) async throws {
        try await withFile { file, resumption in
            let rest = Locked([Self.half] + responses)
            let offline = MockTransport.responding { _ in
                guard let response = rest.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
                    throw URLError(.notConnectedToInternet)
                }
                return response
            }
            await #expect(throws: EndpointError.self) {
                try await client(offline, attempts: 2).download(Guarded(), to: file, resuming: resumption)
            }
            #expect(resumption.receivedBytes == 4)
            try await client(transport(Self.rest)).download(Guarded(), to: file, resuming: resumption)
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
        }
    }

    @Test func aPartOfAnotherURLStaysIfTheRequestFails() async throws {
        try await withFile { file, resumption in
            await #expect(throws: EndpointError.self) {
                try await client(transport(Self.half)).download(Checked(), to: file, resuming: resumption)
            }
            await #expect(throws: EndpointError.self) {
                try await client(transport()).download(Checked(path: "two"), to: file, resuming: resumption)
            }
            #expect(resumption.receivedBytes == 4)
            let server = transport(Self.rest)
            try await client(server).download(Checked(), to: file, resuming: resumption)
            #expect(ranges(server) == ["bytes=4-"])
        }
    }

    @Test func aRestartIsNotContinuedByALaterAttempt() async throws {
        try await withFile { file, resumption in
            let transport = transport(Self.half, .init(416), .init(503), Self.other)
            try await client(transport, attempts: 3).download(Checked(), to: file, resuming: resumption)
            #expect(ranges(transport) == [nil, "bytes=4-", nil, nil])
            #expect(try Data(contentsOf: file) == Data("other".utf8))
        }
    }

    @Test func aPartThatCannotTakeItsPlaceIsContinuedLater() async throws {
        try await withFile { file, resumption in
            let client = EndpointClient(FolderTransport(folder: file))
            await #expect(throws: CocoaError.self) {
                try await client.download(Checked(), to: file, resuming: resumption)
            }
            #expect(resumption.receivedBytes == 10)
            try FileManager.default.removeItem(at: file)
            let last = MockTransport.Response(
                206,
                headers: ["Content-Range": "bytes 9-9/10", "ETag": "\"a\""],
                body: Data("9".utf8)
            )
            let server = transport(last)
            try await self.client(server).download(Checked(), to: file, resuming: resumption)
            #expect(ranges(server) == ["bytes=9-"])
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
        }
    }
}

/// Responds with 10 bytes, after which a folder is in the place of the target.
private struct FolderTransport: HTTPTransport {
    let folder: URL

    func withResponse<Value>(
        to request: HTTPTransportRequest,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        let headers = ["Content-Length": "10", "ETag": "\"a\""]
        guard let url = request.request.url,
            let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: headers)
        else { throw URLError(.badURL) }
        var rest: Data? = Data("0123456789".utf8)
        return try await receive(
            HTTPTransportResponse(
                head: head,
                body: HTTPResponseBody {
                    if let part = rest.take() { return part }
                    let inside = folder.appendingPathComponent("inside")
                    try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: true)
                    return nil
                }
            )
        )
    }
}
