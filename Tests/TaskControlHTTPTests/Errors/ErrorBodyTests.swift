import Foundation
import TaskControl
import Testing

@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)))
struct ErrorBodyTests {
    private struct Refusal: Decodable, Equatable { let firstField: String }

    private static let refusal = Data(#"{"firstField": "name", "token": "hush"}"#.utf8)

    private func failure(
        _ reply: ScriptedTransport.Reply,
        decoder: JSONDecoder = JSONDecoder()
    ) async throws -> EndpointError {
        let client = EndpointClient(baseURL: "https://h", transport: ScriptedTransport(reply), decoder: decoder)
        return try #require(await thrown { try await client.get("a") } as? EndpointError)
    }

    @Test func theBodyOfAnErrorIsDecodedAndItsTextIsRedacted() async throws {
        let error = try await failure(.init(status: 422, chunks: [Self.refusal]))
        #expect(try error.decode(Refusal.self) == Refusal(firstField: "name"))
        #expect(try error.decode(Data.self) == Self.refusal)
        #expect(try error.decode(String.self).contains("hush"))
        var dumped = ""
        dump(error, to: &dumped)
        let texts = ["\(error)", String(reflecting: error), error.localizedDescription, dumped, error.bodyPrefix ?? ""]
        for text in texts {
            #expect(text.contains("firstField") && !text.contains("hush"))
        }
    }

    @Test func theDecoderIsThatOfTheClientUnlessAnotherOneIsGiven() async throws {
        let snakeCase = JSONDecoder()
        snakeCase.keyDecodingStrategy = .convertFromSnakeCase
        let body = Data(#"{"first_field": "name"}"#.utf8)
        let error = try await failure(.init(status: 422, chunks: [body]), decoder: snakeCase)
        #expect(try error.decode(Refusal.self) == Refusal(firstField: "name"))
        #expect(throws: EndpointError.self) { try error.decode(Refusal.self, with: JSONDecoder()) }
        let fake = EndpointError(status: 422, body: body)
        #expect(throws: EndpointError.self) { try fake.decode(Refusal.self) }
        #expect(try fake.decode(Refusal.self, with: snakeCase) == Refusal(firstField: "name"))
    }

    @Test func aBodyThatIsNotWhatIsExpectedSaysWhere() async throws {
        let error = #expect(throws: EndpointError.self) {
            try EndpointError(status: 422, body: Data("{}".utf8)).decode(Refusal.self)
        }
        #expect(error?.reason == .content && error?.underlyingError is DecodingError)
    }

    /// A body is kept as a whole or not at all: the beginning of JSON is no JSON.
    @Test(arguments: [65_535, 65_536, 200_000])
    func aLargeBodyIsNotKept(size: Int) async throws {
        let text = Data((#"{"firstField": ""# + String(repeating: "x", count: size - 18) + #""}"#).utf8)
        #expect(text.count == size)
        for error in [
            try await failure(.init(status: 500, chunks: [text.prefix(70_000), text.dropFirst(70_000)])),
            EndpointError(status: 500, body: text),
        ] {
            if size < 65_536 {
                #expect(try error.decode(Refusal.self).firstField.count == size - 18)
            } else {
                #expect(throws: EndpointError.self) { try error.decode(Refusal.self) }
            }
            #expect(error.bodyPrefix?.hasSuffix(" (\(size) bytes)") == true)
            #expect(error.bodyPrefix?.utf8.count ?? 0 < 600)
        }
    }

    @Test func aStreamedResponseThatIsRefusedHasItsBodyToo() async throws {
        let transport = ScriptedTransport(.init(status: 422, chunks: [Self.refusal]))
        let client = EndpointClient(transport)
        let error = await thrown {
            try await client.withResponse(to: Checked()) { _ in Issue.record("a response") }
        }
        #expect(try (error as? EndpointError)?.decode(Refusal.self) == Refusal(firstField: "name"))
    }

    @Test func aBodyThatBrokeOffIsNotDecoded() async throws {
        let error = try await failure(
            .init(status: 422, chunks: [Self.refusal], failure: URLError(.networkConnectionLost))
        )
        #expect(error.reason == .transport && error.statusCode == 422)
        let failure = #expect(throws: EndpointError.self) { try error.decode(Refusal.self) }
        #expect(failure?.underlyingError == nil)
    }

    @Test func theBodyOfASuccessIsNotKept() {
        let error = EndpointError(status: 200, body: Self.refusal)
        #expect(throws: EndpointError.self) { try error.decode(Refusal.self) }
        #expect(throws: EndpointError.self) { try EndpointError(status: 422).decode(Refusal.self) }
        #expect(throws: EndpointError.self) { try EndpointError(.transport).decode(Refusal.self) }
    }

    @Test func anErrorForTestsIsThatOfAClient() async throws {
        let headers = ["retry-after": "7", "Content-Type": "application/problem+json"]
        let body = Data(#"{"title": "full"}"#.utf8)
        let real = try await failure(.init(status: 503, headers: headers, chunks: [body]))
        let fake = EndpointError(status: 503, headers: headers, body: body)
        #expect((fake.reason, fake.statusCode) == (real.reason, real.statusCode))
        #expect((fake.retryAfter, fake.isWorthRetrying) == (.seconds(7), true))
        #expect((fake.retryAfter, fake.problem, fake.bodyPrefix) == (real.retryAfter, real.problem, real.bodyPrefix))
        #expect(EndpointError(status: 404).isWorthRetrying == false)
        #expect(EndpointError(status: -1).statusCode == -1)
    }

    // MARK: Problem details

    private func problem(_ body: String, type: String = "application/problem+json") -> EndpointError.ProblemDetails? {
        EndpointError(status: 403, headers: ["Content-Type": type], body: Data(body.utf8)).problem
    }

    @Test func aProblemIsRecognizedByItsMediaType() {
        let names = #""type": "https://h/credit", "title": "No credit", "status": 403"#
        let body = "{" + names + #", "detail": "30 < 50", "instance": "/a/7"}"#
        for type in ["application/problem+json", "Application/Problem+JSON; charset=utf-8"] {
            let problem = problem(body, type: type)
            #expect(problem?.type == "https://h/credit" && problem?.title == "No credit" && problem?.status == 403)
            #expect(problem?.detail == "30 < 50" && problem?.instance == "/a/7")
        }
        for type in ["application/json", "application/problem+xml", "text/application/problem+json"] {
            #expect(problem(body, type: type) == nil)
        }
        #expect(EndpointError(status: 403, body: Data(body.utf8)).problem == nil)
    }

    /// RFC 9457, 3.1: a member of another type is ignored.
    @Test func aMemberOfAnotherTypeIsIgnored() {
        let body = #"{"type": null, "title": 7, "status": "403", "detail": ["a"], "instance": "/a", "balance": 30}"#
        let problem = problem(body)
        #expect(problem?.type == "about:blank" && problem?.instance == "/a")
        #expect(problem?.title == nil && problem?.status == nil && problem?.detail == nil)
        #expect(self.problem("{}")?.type == "about:blank")
        for text in ["[]", "", "null", "{"] { #expect(self.problem(text) == nil) }
    }

    @Test func theMembersOfAServerAreDecodedWithATypeOfItsOwn() throws {
        struct Credit: Decodable { let balance: Int }
        let error = EndpointError(
            status: 403,
            headers: ["Content-Type": "application/problem+json"],
            body: Data(#"{"balance": 30}"#.utf8)
        )
        #expect(try error.decode(Credit.self).balance == 30 && error.problem?.type == "about:blank")
    }
}
