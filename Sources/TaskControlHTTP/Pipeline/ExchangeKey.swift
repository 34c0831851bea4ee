internal import Foundation

/// The identity of an exchange that several calls may share: the URL, the headers, and the user on whose behalf the request is sent. Only a GET
/// request without a body has such a key.
struct ExchangeKey: Hashable, Sendable, CustomStringConvertible {
    private let url: URL
    /// The headers by their names in lower case.
    private let headers: [String: String]
    private let handlesCookies: Bool
    private let cachePolicy: URLRequest.CachePolicy
    private let timeoutInterval: TimeInterval
    /// The serial number of the credential, which ``EndpointAuthenticator/forget()`` changes even if the headers stay the same;
    /// `nil` if the request has no credential.
    private let credential: CredentialSerial?
    /// The identity of the authenticator; `nil` if there is none. An endpoint may have an authenticator other than the
    /// client's.
    private let authenticator: ObjectIdentifier?
    /// The largest allowed body, in bytes; `nil` for no limit. A larger body ends the exchange.
    private let bodyLimit: Int?
    /// The time limit of the exchange; `nil` for no limit.
    private let timeout: Duration?
    /// The time limit of a wait for a part of the body; `nil` for no limit.
    private let silenceLimit: Duration?
    /// Whether the exchange follows redirects from HTTPS to HTTP.
    private let allowsInsecureRedirects: Bool
    /// The cookies that the transport adds to the request; `nil` if there are none.
    let cookies: String?
    /// The number of requests of this client that have ended and may have changed something on the server. Exchanges
    /// from before such a request are not joined after it.
    private let writes: Int

    /// Creates the key of a request; `nil` if its exchange must not be shared.
    ///
    /// - Parameters:
    ///   - exchange: The exchange, whose request has its credential.
    ///   - policies: The policies of the call, with its authenticator and its limit for the body.
    ///   - cookies: The cookies that the transport adds to the request; `nil` if there are none.
    ///   - writes: The number of requests of this client that have ended and may have changed something on the server.
    init?(_ exchange: Exchange, _ policies: ClientPolicies, cookies: String?, writes: Int) {
        let request = exchange.request
        guard request.httpMethod ?? "GET" == "GET", exchange.body == nil, request.httpBody == nil,
            request.httpBodyStream == nil,
            let url = request.url
        else { return nil }
        self.url = url
        headers = Dictionary((request.allHTTPHeaderFields ?? [:]).map { ($0.lowercased(), $1) }) { $0 + ", " + $1 }
        handlesCookies = request.httpShouldHandleCookies
        cachePolicy = request.cachePolicy
        timeoutInterval = request.timeoutInterval
        credential = exchange.credential
        authenticator = policies.authenticator.map(ObjectIdentifier.init)
        bodyLimit = policies.bodyLimit
        allowsInsecureRedirects = policies.allowsInsecureRedirects
        self.cookies = cookies
        self.writes = writes
        (timeout, silenceLimit) = (policies.attemptTimeout, policies.silenceLimit)
    }

    /// The method and the URL without secrets, for events.
    var description: String { "GET " + Redaction.text(of: url) }
}
