import Dispatch
import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlTesting
import Testing

// Where contents are decoded, and bodies encoded: in the caller's isolation if the conformance can belong to its actor, and otherwise elsewhere.

@Suite(.timeLimit(.minutes(15)))
struct ContentIsolationTests {
    private static let reply = ScriptedTransport.Reply.ok(#"{"short_title": "Emma"}"#)

    /// A client whose coders have a strategy of their own, and whose policies are all around an attempt.
    private static func client(
        _ transport: ScriptedTransport = ScriptedTransport(reply),
        responseObserver: ResponseObserver? = nil
    ) -> EndpointClient {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return EndpointClient(
            requestAdapter: BaseURLAdapter(baseURL: URL(string: "http://h/api")!),
            transport: transport,
            policies: ClientPolicies(
                retry: HTTPRetryPolicy(),
                timeout: .seconds(3_600),
                attemptTimeout: .seconds(3_600),
                coalescesGETRequests: true
            ),
            decoder: decoder,
            encoder: encoder,
            responseObserver: responseObserver
        )
    }

    // MARK: Contents

    @MainActor
    @Test func aContentWhoseConformanceBelongsToTheMainActorIsDecodedThere() async throws {
        let (client, body) = (Self.client(), FreeDraft(shortTitle: "Emma"))
        #expect(try await client.get("books", as: MainBook.self).shortTitle == "Emma")
        #expect(try await client.post("books", as: MainBook.self).shortTitle == "Emma")
        #expect(try await client.post("books", body: body, as: MainBook.self).shortTitle == "Emma")
        #expect(try await client.put("books", as: MainBook.self).shortTitle == "Emma")
        #expect(try await client.put("books", body: body, as: MainBook.self).shortTitle == "Emma")
        #expect(try await client.patch("books", as: MainBook.self).shortTitle == "Emma")
        #expect(try await client.patch("books", body: body, as: MainBook.self).shortTitle == "Emma")
        #expect(try await client.delete("books", as: MainBook.self).shortTitle == "Emma")
        let books = Self.client(ScriptedTransport(.ok(#"[{"short_title": "Emma"}]"#)))
        #expect(try await books.get("books", as: [MainBook].self).map(\.shortTitle) == ["Emma"])
    }

    @MainActor
    @Test func aContentWhoseConformanceBelongsToNoActorIsDecodedOffTheCallersActor() async throws {
        let (client, body) = (Self.client(), FreeDraft(shortTitle: "Emma"))
        #expect(try await client.get("books", as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.post("books", as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.post("books", body: body, as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.put("books", as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.put("books", body: body, as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.patch("books", as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.patch("books", body: body, as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.delete("books", as: FreeBook.self).isFromMainActor == false)
    }

    @MainActor
    @Test func aClientThatIsKnownByItsProtocolDecodesOffTheCallersActorToo() async throws {
        let (client, body): (any APIClient, _) = (Self.client(), FreeDraft(shortTitle: "Emma"))
        #expect(try await client.get("books", as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.post("books", as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.post("books", body: body, as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.delete("books", as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.get("books", as: FreeBook.self).shortTitle == "Emma", "the decoder of the client")
    }

    @Shelf
    @Test func aContentWhoseConformanceBelongsToAnotherGlobalActorIsDecodedThere() async throws {
        #expect(try await Self.client().get("books", as: ShelfBook.self).shortTitle == "Emma")
        #expect(try await Self.client().post("books", as: ShelfBook.self).shortTitle == "Emma")
    }

    @MainActor
    @Test func aGenericCallerDecodesInItsIsolationUnlessItsContentIsSendable() async throws {
        func load<Content: Decodable>(_ type: Content.Type) async throws -> Content {
            try await Self.client().get("books", as: type)
        }
        func loadSendable<Content: Decodable & Sendable>(_ type: Content.Type) async throws -> Content {
            try await Self.client().get("books", as: type)
        }
        #expect(try await load(MainBook.self).shortTitle == "Emma")
        #expect(try await load(FreeBook.self).isFromMainActor)
        #expect(try await loadSendable(FreeBook.self).isFromMainActor == false)
    }

    @MainActor
    @Test func aContentThatIsNotSendableIsDecodedInTheCallersIsolation() async throws {
        final class Draft: Decodable { var shortTitle: String }
        let draft = try await Self.client().get("books", as: Draft.self)
        draft.shortTitle += "!"
        #expect(draft.shortTitle == "Emma!")
    }

    @MainActor
    @Test func functionsAroundACallKeepTheIsolationOfItsContent() async throws {
        let client = Self.client()
        let book = try await withTimeout(.seconds(3_600)) {
            try await retry(RetryPolicy(attempts: 2)) { try await client.get("books", as: MainBook.self) }
        }
        #expect(book.shortTitle == "Emma")
    }

    @concurrent
    @Test func callersWithoutAnActorDecodeWhatBelongsToNone() async throws {
        #expect(try await Self.client().get("books", as: FreeBook.self).shortTitle == "Emma")
        #expect(
            try await Self.client().post("books", body: FreeDraft(shortTitle: ""), as: FreeBook.self).shortTitle
                == "Emma"
        )
    }

    @MainActor
    @Test func bodiesAndTextsAreContentsOfAllVerbs() async throws {
        let client = Self.client(ScriptedTransport(.ok("four")))
        #expect(try await client.get("books") == Data("four".utf8))
        #expect(try await client.get("books", as: String.self) == "four")
        #expect(try await client.post("books") == Data("four".utf8))
        #expect(try await client.post("books", body: nil, as: String.self) == "four")
        #expect(try await client.put("books", body: .text("x"), as: String.self) == "four")
        #expect(try await client.patch("books", body: MainDraft(shortTitle: "x"), as: String.self) == "four")
        #expect(try await client.delete("books") == Data("four".utf8))
    }

    // MARK: Bodies

    @MainActor
    @Test func aBodyWhoseConformanceBelongsToTheMainActorIsEncodedThere() async throws {
        let transport = ScriptedTransport(Self.reply)
        let (client, body) = (Self.client(transport), MainDraft(shortTitle: "Emma"))
        try await client.post("books", body: body)
        try await client.put("books", body: body)
        try await client.patch("books", body: body)
        #expect(try await client.post("books", body: body, as: MainBook.self).shortTitle == "Emma")
        #expect(try await client.put("books", body: body, as: MainBook.self).shortTitle == "Emma")
        #expect(try await client.patch("books", body: body, as: MainBook.self).shortTitle == "Emma")
        #expect(try await client.post("books", body: body, as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.put("books", body: body, as: FreeBook.self).isFromMainActor == false)
        #expect(try await client.patch("books", body: body, as: FreeBook.self).isFromMainActor == false)
        #expect(transport.sent.count == 9)
        #expect(transport.sent.events.allSatisfy { $0.body == Data(#"{"short_title":"Emma"}"#.utf8) })
        #expect(
            transport.sent.events.map(\.method) == [
                "POST", "PUT", "PATCH", "POST", "PUT", "PATCH", "POST", "PUT", "PATCH",
            ]
        )
        #expect(transport.sent.events.allSatisfy { $0.headers["Content-Type"] == "application/json" })
    }

    @MainActor
    @Test func anErrorOfEncodingIsPassedOnAndNothingIsSent() async throws {
        let transport = ScriptedTransport(Self.reply)
        await #expect(throws: EncodingError.self) {
            try await Self.client(transport).post("books", body: [Double.nan])
        }
        #expect(transport.sent.count == 0)
    }

    // MARK: Errors

    @MainActor
    @Test(arguments: [true, false])
    func anErrorOfDecodingHasItsRequestAndReachesTheObserver(isFree: Bool) async throws {
        let observed = OrderRecorder<String>()
        let client = Self.client(ScriptedTransport(.ok("{}"))) { _, _, _, error in
            observed.record((error as? EndpointError).map { "\($0.reason)" } ?? "none")
        }
        let error = await #expect(throws: EndpointError.self) {
            if isFree {
                _ = try await client.get("books", as: FreeBook.self)
            } else {
                _ = try await client.get("books", as: MainBook.self)
            }
        }
        #expect(error?.reason == .content)
        #expect(error?.method == "GET")
        #expect(error?.url == "http://h/api/books")
        #expect(error?.statusCode == 200)
        #expect(error?.underlyingError is DecodingError)
        #expect(observed.events == ["content"])
    }

    @MainActor
    @Test func aRefusalWhoseConformanceBelongsToTheMainActorIsRead() async throws {
        let client = Self.client(ScriptedTransport(.status(409, #"{"short_title": "taken"}"#)))
        let error = await #expect(throws: EndpointError.self) { try await client.get("books", as: MainBook.self) }
        #expect(error?.reason == .status)
        #expect(try error?.decode(MainBook.self).shortTitle == "taken")
    }

    @MainActor
    @Test(arguments: [true, false])
    func aCallerThatIsCancelledWhileItsContentIsDecodedThrowsCancellationError(isFree: Bool) async throws {
        // Without a limit, the content is decoded in the task of the caller.
        let client = EndpointClient(ScriptedTransport(Self.reply))
        let caller = Task { @MainActor in
            if isFree {
                _ = try await client.get("books", as: FreeCancellation.self)
            } else {
                _ = try await client.get("books", as: MainCancellation.self)
            }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
    }
}

private enum Key: CodingKey { case shortTitle }

/// The queue of the main actor, which no thread of its own serves outside Apple's platforms.
private enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether this code runs on the main actor.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}

@globalActor private actor Shelf { static let shared = Shelf() }

private struct MainBook: @MainActor Decodable {
    let shortTitle: String

    @MainActor init(from decoder: any Decoder) throws {
        MainActor.preconditionIsolated()
        shortTitle = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .shortTitle)
    }
}

private struct ShelfBook: @Shelf Decodable {
    let shortTitle: String

    @Shelf init(from decoder: any Decoder) throws {
        Shelf.preconditionIsolated()
        shortTitle = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .shortTitle)
    }
}

private struct FreeBook: Decodable {
    let shortTitle: String
    let isFromMainActor: Bool

    init(from decoder: any Decoder) throws {
        isFromMainActor = MainQueue.isCurrent
        shortTitle = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .shortTitle)
    }
}

private struct MainDraft: @MainActor Encodable {
    let shortTitle: String

    @MainActor func encode(to encoder: any Encoder) throws {
        MainActor.preconditionIsolated()
        try FreeDraft(shortTitle: shortTitle).encode(to: encoder)
    }
}

private struct FreeDraft: Encodable {
    let shortTitle: String
}

private struct FreeCancellation: Decodable {
    init(from decoder: any Decoder) throws {
        withUnsafeCurrentTask { $0?.cancel() }
        throw Mishap(name: "decoding")
    }
}

private struct MainCancellation: @MainActor Decodable {
    @MainActor init(from decoder: any Decoder) throws {
        withUnsafeCurrentTask { $0?.cancel() }
        throw Mishap(name: "decoding")
    }
}
