/// The identity of an exchange that calls may share: the URL, the headers, and the user on whose behalf the request is
/// sent. Only a request without a body that changes nothing has one.
struct ExchangeKey: Hashable, Sendable, CustomStringConvertible {
    private let url: URL
    private let headers: [String: String]
    private let handlesCookies: Bool
    private let cachePolicy: URLRequest.CachePolicy
    private let timeoutInterval: TimeInterval
    /// Changes with `Authenticator.forget()`, also where the headers do not.
    private let credential: CredentialSerial?
    /// Endpoints may have their own.
    private let authenticator: ObjectIdentifier?
    /// The exchange ends at its limit.
    private let bodyLimit: Int?
    /// The cookies that the transport adds below the client.
    let cookies: String?
    /// The number of requests that may have changed something and had ended.
    private let writes: Int

    /// Creates the key of a request; `nil` if its exchange must not be shared.
    init?(_ prepared: PreparedRequest, _ policies: ClientPolicies, cookies: String?, writes: Int) {
        let request = prepared.request
        guard request.httpMethod ?? "GET" == "GET", prepared.body == nil, request.httpBody == nil,
            request.httpBodyStream == nil,
            let url = request.url
        else { return nil }
        self.url = url
        headers = request.allHTTPHeaderFields ?? [:]
        handlesCookies = request.httpShouldHandleCookies
        cachePolicy = request.cachePolicy
        timeoutInterval = request.timeoutInterval
        credential = prepared.credential
        authenticator = policies.authenticator.map(ObjectIdentifier.init)
        bodyLimit = policies.bodyLimit
        self.cookies = cookies
        self.writes = writes
    }

    /// The text for events, without headers.
    var description: String { "GET " + Redaction.text(of: url) }
}
