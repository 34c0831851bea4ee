import TaskControlHTTP
import TaskControlTesting
import Testing

/// Requests without an endpoint type.
@Suite(.timeLimit(.minutes(15)))
struct RequestTests {
    private struct Book: Codable, Hashable {
        var title: String
    }

    private static let emma = Book(title: "Emma")
    private static let json = #"{"title":"Emma"}"#

    @Test func aContentIsDecoded() async throws {
        let transport = ScriptedTransport(.ok(Self.json))
        let client = EndpointClient(transport)
        let items = [URLQueryItem(name: "page", value: "1")]
        let book = try await client.get("books/\(7)", queryItems: items, headers: ["X": "y"], as: Book.self)
        #expect(book == Self.emma)
        #expect(try await client.get("raw", as: Data.self) == Data(Self.json.utf8))
        #expect(try await client.get("raw", as: String.self) == Self.json)
        #expect(
            transport.sent.events.map(\.url) == ["http://h/api/books/7?page=1", "http://h/api/raw", "http://h/api/raw"]
        )
        #expect(transport.sent.events.first?.headers["X"] == "y")
        let error = await #expect(throws: EndpointError.self) { try await client.get("books", as: [Book].self) }
        #expect(error?.reason == .content)
    }

    @Test func aBodyIsEncoded() async throws {
        let transport = ScriptedTransport(.ok(Self.json))
        let client = EndpointClient(transport)
        #expect(try await client.post("books", body: Self.emma, as: Book.self) == Self.emma)
        #expect(try await client.put("books/\(1)", body: Self.emma, as: Book.self) == Self.emma)
        #expect(try await client.patch("books/\(1)", body: Self.emma, as: Book.self) == Self.emma)
        let body = try await client.post("books", body: Self.emma)
        #expect(body == Data(Self.json.utf8))
        try await client.put("books/\(1)", body: Self.emma)
        try await client.patch("books/\(1)", body: Self.emma)
        #expect(transport.sent.events.map(\.method) == ["POST", "PUT", "PATCH", "POST", "PUT", "PATCH"])
        #expect(transport.sent.events.allSatisfy { $0.body == Data(Self.json.utf8) })
        #expect(transport.sent.events.allSatisfy { $0.headers["Content-Type"] == "application/json" })
    }

    @Test func aBodyOfAnotherKindIsSent() async throws {
        let transport = ScriptedTransport(.ok(Self.json))
        let client = EndpointClient(transport)
        #expect(try await client.post("login", body: .form(["user": "ann"]), as: Book.self) == Self.emma)
        try await client.put("login", body: .text("x"))
        try await client.patch("login", headers: ["X": "y"])
        #expect(try await client.delete("books/\(1)") == Data(Self.json.utf8))
        #expect(try await client.delete("books/\(1)", as: Book.self) == Self.emma)
        #expect(transport.sent.events.map(\.method) == ["POST", "PUT", "PATCH", "DELETE", "DELETE"])
        #expect(transport.sent.events.map(\.body) == [Data("user=ann".utf8), Data("x".utf8), nil, nil, nil])
    }

    @Test func aRequestOfFoundationIsSent() async throws {
        let transport = ScriptedTransport(.status(201, "made", headers: ["X": "y"]), .status(404, "gone"))
        let client = EndpointClient(transport)
        var request = URLRequest(url: URL(string: "books")!)
        request.httpMethod = "POST"
        request.httpBody = Data("x".utf8)
        let (data, response) = try await client.data(for: request)
        #expect(data == Data("made".utf8))
        #expect(response.statusCode == 201 && response.value(forHTTPHeaderField: "X") == "y")
        #expect(transport.sent.events.map(\.body) == [Data("x".utf8)])
        await #expect(throws: EndpointError.self) { try await client.data(for: request) }
        #expect(try await client.data(for: request, accepting: [404]).1.statusCode == 404)
        let elsewhere = URLRequest(url: URL(string: "http://elsewhere/books")!)
        #expect(await (thrown { try await client.data(for: elsewhere) } as? EndpointError)?.reason == .request)
    }

    @Test func aBodyThatCannotBeEncodedSendsNothing() async throws {
        let transport = ScriptedTransport(.ok(""))
        let client = EndpointClient(transport)
        await #expect(throws: EncodingError.self) { try await client.post("books", body: Double.nan) }
        #expect(transport.sent.count == 0)
    }
}
