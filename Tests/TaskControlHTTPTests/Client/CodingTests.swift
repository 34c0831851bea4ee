import TaskControl
import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct CodingTests {
    private struct Loan: Codable, Hashable {
        var dueDate: Date
    }

    private struct Loans: Endpoint, URLRequestBuildable {
        typealias Content = Loan
        var decoder: JSONDecoder?
        var encoder: JSONEncoder?
        func makeRequest() throws -> URLRequest {
            post(URL(string: "loans")!, body: try .json(encoding: Loan(dueDate: Date(timeIntervalSince1970: 0))))
        }
    }

    private struct LoanUpload: UploadEndpoint, URLRequestBuildable {
        typealias Content = Loan
        var decoder: JSONDecoder?
        var encoder: JSONEncoder?
        func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
            let body = try EndpointBody.json(encoding: Loan(dueDate: Date(timeIntervalSince1970: 0)))
            return (put(URL(string: "loans")!), .data(body.data))
        }
    }

    /// An endpoint that unwraps an envelope, and says what a server says of an error.
    private struct Wrapped: Endpoint, URLRequestBuildable {
        struct Envelope: Decodable { var data: Loan }
        typealias Content = Loan
        func makeRequest() throws -> URLRequest { get(URL(string: "loans")!) }
        func content(from response: URLResponse?, with body: Data) throws -> Loan {
            try decode(Envelope.self, from: body).data
        }
        func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws {
            if response.statusCode != 200 {
                throw Mishap(name: "\(try decode(Loan.self, from: data ?? Data()).dueDate)")
            }
        }
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    private static let loan = Loan(dueDate: Date(timeIntervalSince1970: 0))
    private static let snake = #"{"due_date":"1970-01-01T00:00:00Z"}"#
    private static let plain = #"{"dueDate":-978307200}"#

    @Test func aClientHasADecoderAndAnEncoder() async throws {
        let transport = ScriptedTransport(.ok(Self.snake))
        let client = EndpointClient(transport, decoder: Self.decoder, encoder: Self.encoder)
        #expect(try await client.request(Loans()) == Self.loan)
        #expect(try await client.upload(LoanUpload()) == Self.loan)
        #expect(transport.sent.events.map(\.body) == [Data(Self.snake.utf8), Data(Self.snake.utf8)])
    }

    @Test func anEndpointHasItsOwnDecoderAndEncoder() async throws {
        let transport = ScriptedTransport(.ok(Self.snake))
        let client = EndpointClient(transport)
        #expect(try await client.request(Loans(decoder: Self.decoder, encoder: Self.encoder)) == Self.loan)
        #expect(try await client.upload(LoanUpload(decoder: Self.decoder, encoder: Self.encoder)) == Self.loan)
        #expect(transport.sent.events.map(\.body) == [Data(Self.snake.utf8), Data(Self.snake.utf8)])

        let other = ScriptedTransport(.ok(Self.plain))
        let snakes = EndpointClient(other, decoder: Self.decoder, encoder: Self.encoder)
        #expect(try await snakes.request(Loans(decoder: JSONDecoder(), encoder: JSONEncoder())) == Self.loan)
        #expect(other.sent.events.map(\.body) == [Data(Self.plain.utf8)])
    }

    @Test func anEndpointsOwnContentUsesTheClientsDecoder() async throws {
        let client = EndpointClient(ScriptedTransport(.ok(#"{"data":\#(Self.snake)}"#)), decoder: Self.decoder)
        #expect(try await client.request(Wrapped()) == Self.loan)
        let failing = EndpointClient(ScriptedTransport(.status(409, Self.snake)), decoder: Self.decoder)
        await #expect(throws: Mishap(name: "\(Self.loan.dueDate)")) { try await failing.request(Wrapped()) }
    }

    @Test func anEndpointWithoutAClientDecodesWithItsOwn() throws {
        #expect(try Loans().content(from: nil, with: Data(Self.plain.utf8)) == Self.loan)
        #expect(try Loans(decoder: Self.decoder).content(from: nil, with: Data(Self.snake.utf8)) == Self.loan)
    }

    @Test func aCallInsideAnEndpointsCallKeepsItsOwn() async throws {
        // The refresh of a credential runs while another client's call is in progress, not inside its endpoint's calls.
        let login = EndpointClient(ScriptedTransport(.ok(Self.snake)), decoder: Self.decoder)
        let client = EndpointClient(
            ScriptedTransport(.ok(Self.plain)),
            policies: ClientPolicies(authenticator: .bearer { _ in "\(try await login.request(Loans()).dueDate)" })
        )
        #expect(try await client.request(Loans()) == Self.loan)
    }
}
