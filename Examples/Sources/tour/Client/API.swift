import Foundation
import TaskControlHTTP

/// The client's side of the wire, the same in every act: a client as an application has one, and a count of how its calls ended.
final class API: Sendable {
    /// The ends of the calls of one act: of calls, not of attempts.
    struct Calls: Sendable {
        var answered = 0
        var ended = 0
    }

    /// The maximum number of requests that are in flight at once. The others wait in the client.
    static let connections = 64

    let calls = Observed(Calls())
    let address: URL
    private let client: EndpointClient

    init(
        name: String = "tour",
        address: URL,
        policies: ClientPolicies = ClientPolicies(),
        observer: ResponseObserver? = nil
    ) {
        let configuration = URLSessionConfiguration.ephemeral
        // The default of 6 would keep most requests of a chapter from ever leaving the client.
        configuration.httpMaximumConnectionsPerHost = Self.connections
        client = EndpointClient(
            name: name,
            baseURL: address,
            transport: URLSessionTransport(configuration: configuration),
            policies: policies,
            responseObserver: observer
        )
        self.address = address
    }

    /// Asks the server about a subject, with the token of the user, where the server needs it and the client's policies do not attach it.
    ///
    /// - Throws: `EndpointError`, if the server refuses or the exchange breaks off. `CancellationError`, if the caller is cancelled.
    func ask(_ subject: String, token: Int? = nil) async throws -> Answer {
        defer { calls.update { $0.ended += 1 } }
        let answer = try await client.request(Question(subject: subject, token: token))
        calls.update { $0.answered += 1 }
        return answer
    }
}

/// The server's answer about a subject.
struct Answer: Codable, Sendable {
    let subject: String
    let edition: Int

    /// The number in the subject, such as that of "item 7".
    var number: Int { Int(subject.drop { !$0.isNumber }) ?? 0 }
}

/// A question about a subject, as the server wants it asked.
private struct Question: Endpoint {
    typealias Content = Answer

    let subject: String
    let token: Int?

    func makeRequest() -> URLRequest {
        var request = get("search", queryItems: [URLQueryItem(name: "q", value: subject)])
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        return request
    }
}
