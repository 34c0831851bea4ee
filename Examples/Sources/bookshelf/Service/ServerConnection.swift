import Foundation
import TaskControlHTTP

/// The settings for reaching a server: its address, the account, and the behavior when the server does not answer.
struct ServerConnection: Sendable {
    var server: URL
    var account = Account()
    /// The time limit of a call, with all of its attempts; `nil` for no limit.
    var timeout: Duration?
    /// The time limit for the next byte or sign of life of the server.
    var idleLimit: Duration = .seconds(30)
    var attempts = 4
    var clock: any Clock<Duration> = ContinuousClock()

    /// Returns a client that logs in when necessary: once, even if several requests find that their token has expired.
    func client() -> EndpointClient {
        let account = account
        // Without authenticator: this request gets the token.
        let login = client(policies(retrying: ["POST"]))
        var policies = policies()
        policies.authenticator = .bearer { try await login.request(LoginEndpoint(account: account)).token }
        return client(policies)
    }

    /// Returns policies that retry these methods in addition to those that are always safe to repeat.
    private func policies(retrying methods: Set<String> = []) -> ClientPolicies {
        var retry = HTTPRetryPolicy(attempts: attempts)
        retry.methods.formUnion(methods)
        return ClientPolicies(retry: retry, timeout: timeout, clock: clock)
    }

    private func client(_ policies: ClientPolicies) -> EndpointClient {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = idleLimit / .seconds(1)
        return EndpointClient(
            name: "bookshelf",
            baseURL: server,
            transport: URLSessionTransport(configuration: configuration),
            policies: policies
        )
    }
}

/// Returns an error in one line, with what to do about it.
func complaint(_ error: any Error, server: URL) -> String {
    guard let error = error as? EndpointError else {
        return error is TimeoutError ? "no answer from \(server) in time: give it more with --timeout" : "\(error)"
    }
    switch (error.reason, (error.underlyingError as? URLError)?.code) {
    case (.transport, .cannotConnectToHost?), (.transport, .cannotFindHost?):
        return
            "no server at \(server): start one with `swift run --package-path Examples bookshelf serve`, or say where it is with --server"
    case (.transport, _): return "the connection to \(server) broke off: more attempts with --retries"
    case (.content, _): return "what answers at \(server) is not a bookshelf: say where one is with --server"
    default:
        let body = error.bodyPrefix.flatMap { try? JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
        return "\(server) answered \(error.statusCode ?? 0): \(body?["title"] ?? "\(error)")"
    }
}
