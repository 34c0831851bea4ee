import Foundation
import TaskControlHTTP

/// The settings for reaching a server: its address, the account, and the behavior when the server does not answer.
struct ServerConnection: Sendable {
    var server: URL
    var account = Account.standard
    /// The time limit of a call, with all of its attempts; `nil` for no limit.
    var timeLimit: Duration?
    /// The time limit for the next byte or sign of life of the server.
    var idleLimit: Duration = .seconds(30)
    var attempts = 4
    var clock: any Clock<Duration> = ContinuousClock()
    var observer: ResponseObserver?

    /// Returns a client that logs in when necessary: once, even if several requests find that their token has expired.
    func client() -> EndpointClient {
        let account = account
        // Without authenticator: this request gets the token.
        let login = client(policies(retrying: ["POST"]))
        var policies = policies(retrying: [])
        policies.authenticator = .bearer { try await login.request(LoginEndpoint(account: account)).token }
        return client(policies)
    }

    /// Returns the policies of a client.
    ///
    /// - Parameter methods: The methods that are retried in addition to those that are always safe to repeat.
    private func policies(retrying methods: Set<String>) -> ClientPolicies {
        var retry = HTTPRetryPolicy(attempts: attempts)
        retry.methods.formUnion(methods)
        return ClientPolicies(retry: retry, timeLimit: timeLimit, clock: clock)
    }

    private func client(_ policies: ClientPolicies) -> EndpointClient {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = idleLimit / .seconds(1)
        return EndpointClient(
            name: "bookshelf",
            baseURL: server,
            configuration: configuration,
            policies: policies,
            responseObserver: observer
        )
    }
}
