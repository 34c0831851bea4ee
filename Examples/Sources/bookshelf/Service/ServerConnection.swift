import TaskControlHTTP

/// How a server is reached: where it is, who asks, and what is done when it doesn't answer.
struct ServerConnection: Sendable {
    var server: URL
    var account = Account.standard
    /// For a call, with all of its attempts. `nil`: no limit.
    var timeLimit: Duration?
    /// For the next sign of life.
    var idleLimit: Duration = .seconds(30)
    var attempts = 4
    var clock: any Clock<Duration> = ContinuousClock()
    var observer: ResponseObserver?

    /// A client that logs in when it has to: once, however many requests find their token expired.
    func client() -> EndpointClient {
        let account = account
        // Without authenticator: this request gets the token.
        let login = client(policies(retrying: ["POST"]))
        var policies = policies(retrying: [])
        policies.authenticator = .bearer { try await login.request(LoginEndpoint(account: account)).token }
        return client(policies)
    }

    /// - Parameter methods: The methods that can be repeated without harm, besides those that always can be.
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
