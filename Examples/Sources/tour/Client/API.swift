import TaskControlHTTP

/// The client's side of the wire, the same in every act: a client as an application has one, and a count of how its calls ended.
final class API: Sendable {
    /// The ends of the calls of one act.
    struct Calls: Sendable, CustomStringConvertible {
        var answered = 0
        var cancelled = 0
        var failed = 0

        var ended: Int { answered + cancelled + failed }
        var description: String { "\(answered) calls answered, \(cancelled) cancelled, \(failed) failed" }
    }

    /// The maximum number of requests that are in flight at once. The others wait in the client.
    static let connections = 64

    /// The number of calls, not of attempts: a client that retries, or requests a new token in between, has made one call.
    let calls = Observed(Calls())
    let address: URL
    private let client: EndpointClient

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - name: The name of the client in a trace, which is that of the act.
    ///   - address: The address of a stage of the server.
    ///   - policies: The policies of the client. By default there are none.
    ///   - observer: Receives each attempt.
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
            configuration: configuration,
            policies: policies,
            responseObserver: observer
        )
        self.address = address
    }

    /// Asks the server about a subject.
    ///
    /// - Parameter token: The token of the user, where the server needs it, and the client's policies do not attach it.
    /// - Throws: `EndpointError`, if the server refuses or the exchange breaks off. `CancellationError`, if the caller is cancelled.
    func ask(_ subject: String, token: Int? = nil) async throws -> Answer {
        do {
            let answer = try await client.request(Question(subject: subject, token: token))
            calls.update { $0.answered += 1 }
            return answer
        } catch let error as CancellationError {
            calls.update { $0.cancelled += 1 }
            throw error
        } catch {
            calls.update { $0.failed += 1 }
            throw error
        }
    }
}
