import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the server tells about a subject.
struct Answer: Codable, Sendable {
    let subject: String
    let edition: Int
}

/// The client's side of the wire, the same in every act: `URLSession`, and a count of how its calls ended.
final class API: Sendable {
    /// How the calls of one act ended.
    struct Calls: Sendable, CustomStringConvertible {
        var answered = 0
        var cancelled = 0
        var failed = 0

        var ended: Int { answered + cancelled + failed }
        var description: String { "\(answered) calls answered, \(cancelled) cancelled, \(failed) failed" }
    }

    let calls = Observed(Calls())
    private let session: URLSession
    let address: URL

    init(address: URL) {
        let configuration = URLSessionConfiguration.ephemeral
        // The default of 6 would keep most requests of a chapter from ever leaving the client.
        configuration.httpMaximumConnectionsPerHost = 64
        session = URLSession(configuration: configuration)
        self.address = address
    }

    /// Asks the server about a subject.
    ///
    /// - Parameter token: Whom the client speaks for, where the server wants to know.
    /// - Throws: ``Refusal``, if that is the answer. Whatever `URLSession` throws; in a cancelled task that is its own error, not
    ///   `CancellationError`.
    func ask(_ subject: String, token: Int? = nil) async throws -> Answer {
        do {
            let (data, response) = try await session.data(for: request(subject, token: token))
            if let refusal = Refusal(response) { throw refusal }
            let answer = try JSONDecoder().decode(Answer.self, from: data)
            calls.update { $0.answered += 1 }
            return answer
        } catch {
            calls.update { calls in
                if Task.isCancelled { calls.cancelled += 1 } else { calls.failed += 1 }
            }
            throw error
        }
    }

    func request(_ subject: String, token: Int? = nil) -> URLRequest {
        var request = URLRequest(url: address.appending(queryItems: [URLQueryItem(name: "q", value: subject)]))
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        return request
    }

    func close() {
        session.invalidateAndCancel()
    }
}
