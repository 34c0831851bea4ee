internal import Foundation

/// The exchanges of a client that several calls can share.
///
/// A call may join an exchange if its own request, sent at some moment between its start and its return, would have
/// been the same. The URL and the headers of the request are known. Its cookies are not, since the transport reads them
/// from a cookie jar that other code can change:
///
/// - The ``ExchangeKey`` contains the cookies at the moment of the call. After the user has changed, callers have
///   another key.
/// - The jar is read again right before the request is sent, in a task that may have had to wait for its start. If the
///   cookies have changed by then, no further call joins. Calls that had joined by then had begun before the request
///   was sent. (A jar that changes between this reading and that of `URLSession`, and changes back while the exchange
///   lasts, is not noticed: no API returns the cookies that `URLSession` has sent.)
/// - No call joins after a redirect: the key does not contain the cookies of its target.
final class ExchangeSharing: Sendable {
    private let flights = SingleFlight<ExchangeKey, ReceivedResponse>()
    private let writes = Locked(0)
    /// The waits of the running exchanges, which are the same for all of their callers.
    private let waits = Locked<[ExchangeKey: ConnectionWait]>([:])

    /// Returns the key of a request; `nil` if its exchange must not be shared.
    ///
    /// - Parameters:
    ///   - request: The request, with its credential.
    ///   - policies: The policies of the call.
    ///   - transport: The transport, whose cookies for the request are a part of the key.
    func key(
        of request: PreparedRequest,
        _ policies: ClientPolicies,
        over transport: any HTTPTransport
    ) -> ExchangeKey? {
        let cookies = transport.cookies(for: request.request)
        return ExchangeKey(request, policies, cookies: cookies, writes: writes.withLock(\.self))
    }

    /// Joins the exchange with this key, or begins it, and waits for the response.
    ///
    /// - Parameters:
    ///   - request: The request, which is sent if the exchange is a new one.
    ///   - key: The key of the exchange.
    ///   - exchange: Sends the request.
    ///   - attempt: Receives the head and the body.
    ///   - progress: Reports the progress at the end of the exchange; `nil` for no reports.
    /// - Throws: The error of the exchange, to all of its callers; `CancellationError` if the caller is cancelled. The
    ///   exchange is cancelled when its last caller is cancelled.
    func collect(
        _ request: PreparedRequest,
        _ key: ExchangeKey,
        over exchange: Exchange,
        into attempt: inout Attempt,
        _ progress: ProgressReporter.Transfer?
    ) async throws {
        if let wait = waits.withLock({ $0[key] }) { attempt.request?.connectionWait = wait }
        do {
            attempt.response = try await flights.value(for: key) { [flights, waits] in
                waits.withLock { $0[key] = request.connectionWait }
                defer { waits.withLock { if $0[key] === request.connectionWait { $0[key] = nil } } }
                var request = request
                request.willFollowRedirect = { flights.forget(key) }
                if exchange.transport.cookies(for: request.request) != key.cookies { flights.forget(key) }
                var response = ReceivedResponse()
                do {
                    try await exchange.collectShared(request, into: &response)
                } catch {
                    throw UnsuccessfulExchange(error: error, response: response)
                }
                return response
            }
        } catch let exchange as UnsuccessfulExchange {
            attempt.response = exchange.response
            throw exchange.error
        }
        progress?.show(attempt.response)
    }

    /// Records that a request has ended. If it may have changed something on the server, later calls do not join
    /// exchanges that began before.
    func didEnd(_ request: URLRequest) {
        if !request.isSafe { writes.withLock { $0 += 1 } }
    }
}

extension URLRequest {
    /// Whether the method is safe by RFC 9110 (9.2.1): it changes nothing on the server.
    fileprivate var isSafe: Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE"].contains(httpMethod?.uppercased() ?? "GET")
    }
}

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
    ///   - prepared: The request, with its credential.
    ///   - policies: The policies of the call, with its authenticator and its limit for the body.
    ///   - cookies: The cookies that the transport adds to the request; `nil` if there are none.
    ///   - writes: The number of requests of this client that have ended and may have changed something on the server.
    init?(_ prepared: PreparedRequest, _ policies: ClientPolicies, cookies: String?, writes: Int) {
        let request = prepared.request
        guard request.httpMethod ?? "GET" == "GET", prepared.body == nil, request.httpBody == nil,
            request.httpBodyStream == nil,
            let url = request.url
        else { return nil }
        self.url = url
        headers = Dictionary((request.allHTTPHeaderFields ?? [:]).map { ($0.lowercased(), $1) }) { $0 + ", " + $1 }
        handlesCookies = request.httpShouldHandleCookies
        cachePolicy = request.cachePolicy
        timeoutInterval = request.timeoutInterval
        credential = prepared.credential
        authenticator = policies.authenticator.map(ObjectIdentifier.init)
        bodyLimit = policies.bodyLimit
        allowsInsecureRedirects = policies.allowsInsecureRedirects
        self.cookies = cookies
        self.writes = writes
        timeout = policies.attemptTimeout
    }

    /// The method and the URL without secrets, for events.
    var description: String { "GET " + Redaction.text(of: url) }
}
