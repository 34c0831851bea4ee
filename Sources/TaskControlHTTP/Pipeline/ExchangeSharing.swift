/// What makes two exchanges the same: the URL, the headers, and on whose behalf the request is sent. Only of what has no body and changes
/// nothing.
struct ExchangeKey: Hashable, Sendable, CustomStringConvertible {
    private let url: URL
    private let headers: [String: String]
    private let handlesCookies: Bool
    private let cachePolicy: URLRequest.CachePolicy
    private let timeoutInterval: TimeInterval
    /// Changes with `Authenticator.forget()`, also where the headers do not.
    private let credential: CredentialSerial?
    /// What the transport adds below the client.
    let cookies: String?
    /// How many requests that may have changed something had ended.
    private let writes: Int

    /// `nil`: the exchange is not to be shared.
    init?(_ outgoing: Outgoing, cookies: String?, writes: Int) {
        let request = outgoing.request
        guard request.httpMethod ?? "GET" == "GET", outgoing.body == nil, request.httpBody == nil,
            request.httpBodyStream == nil,
            let url = request.url
        else { return nil }
        self.url = url
        headers = request.allHTTPHeaderFields ?? [:]
        handlesCookies = request.httpShouldHandleCookies
        cachePolicy = request.cachePolicy
        timeoutInterval = request.timeoutInterval
        credential = outgoing.credential
        self.cookies = cookies
        self.writes = writes
    }

    /// For events: without headers.
    var description: String { "GET " + Redaction.text(of: url) }
}

/// Exchanges that several callers take part in.
///
/// A caller may join an exchange if its own request, sent at some moment between its call and its return, would have been the same. Its URL
/// and headers are known. Cookies are not, since the transport reads them from a jar that others change:
///
/// 1. The key has the cookies of the moment of the call. After a user has changed, callers have another key.
/// 2. The jar is read again right before the request is sent, in a task that may have had to wait for its start. If it has changed by then,
///    nobody joins from there on. Callers that had joined by then have called before the request was sent.
///    (A jar that changes between this and the session's own reading, and changes back while the exchange lasts, is not noticed: no API
///    tells what the session has sent.)
/// 3. After a redirect nobody joins: the cookies of the URL that it leads to are not in the key.
final class ExchangeSharing: Sendable {
    private let flights = SingleFlight<ExchangeKey, Arrival>()
    private let writes = Locked(0)

    /// `nil`: the exchange is not to be shared.
    func key(of outgoing: Outgoing, over transport: any HTTPTransport) -> ExchangeKey? {
        let cookies = transport.cookies(for: outgoing.request)
        return ExchangeKey(outgoing, cookies: cookies, writes: writes.withLock(\.self))
    }

    func gather(
        _ outgoing: Outgoing,
        _ key: ExchangeKey,
        over transport: any HTTPTransport,
        _ arrival: inout Arrival,
        limit: Int?,
        _ progress: ProgressReporter.Attempt?
    ) async throws {
        // What arrives is everybody's; where it was sent, and with what, is known to the caller alone.
        let (url, credentials) = (arrival.url, arrival.credentials)
        defer { (arrival.shared, arrival.url, arrival.credentials) = (key, url, credentials) }
        do {
            arrival = try await flights.run(key) { [flights] in
                var outgoing = outgoing
                outgoing.willFollowRedirect = { flights.forget(key) }
                if transport.cookies(for: outgoing.request) != key.cookies { flights.forget(key) }
                var arrival = Arrival(stage: .exchange)
                do {
                    try await transport.gather(outgoing, &arrival, limit: limit, nil)
                } catch {
                    throw Broken(error: error, arrival: arrival)
                }
                return arrival
            }
        } catch let broken as Broken {
            arrival = broken.arrival
            throw broken.error
        }
        if let response = arrival.response { progress?.expect(response) }
        progress?.didReceive(arrival.data?.count ?? 0)
    }

    /// Lets the next who asks for it have an exchange of its own.
    func forget(_ key: ExchangeKey) { flights.forget(key) }

    /// Notes that a request has ended. If it may have changed something, later callers share no exchange that began before.
    func ended(_ request: URLRequest) {
        if !request.isSafe { writes.withLock { $0 += 1 } }
    }

    /// What failed, and what had arrived until then.
    private struct Broken: EventDescribable {
        let error: any Error
        let arrival: Arrival

        var eventText: String { Diagnostics.text(of: error) }
    }
}

extension URLRequest {
    /// Whether the method changes nothing on the server, by RFC 9110 (9.2.1).
    fileprivate var isSafe: Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE"].contains(httpMethod?.uppercased() ?? "GET")
    }
}
