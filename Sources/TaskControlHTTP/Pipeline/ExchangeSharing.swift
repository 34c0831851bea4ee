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
    ///   - exchange: The exchange. The cookies of its transport for the request are a part of the key.
    ///   - policies: The policies of the call.
    @inline(never)
    func key(of exchange: Exchange, _ policies: ClientPolicies) -> ExchangeKey? {
        let cookies = exchange.transport.cookies(for: exchange.request)
        return ExchangeKey(exchange, policies, cookies: cookies, writes: writes.withLock(\.self))
    }

    /// Joins the exchange with this key, or begins it, and waits for the response.
    ///
    /// - Parameters:
    ///   - exchange: The exchange of the call, which is performed if no other call has begun one with this key.
    ///   - key: The key of the exchange.
    ///   - call: The call, whose attempt receives the head and the body.
    ///   - progress: Reports the progress at the end of the exchange; `nil` for no reports.
    /// - Throws: The error of the exchange, to all of its callers; `CancellationError` if the caller is cancelled. The
    ///   exchange is cancelled when its last caller is cancelled.
    @inline(never)
    func collect(
        _ exchange: Exchange,
        _ key: ExchangeKey,
        for call: Call,
        _ progress: ProgressReporter.Transfer?
    ) async throws {
        call.attempt.sharedWait = waits.withLock { $0[key] }
        let entry = call.entry
        // The key may be one of later calls.
        if let cause = entry?.cause { throw cause }
        do {
            let response = try await flights.value(for: key) { [self] in
                // The client may have cancelled this call, and all that have joined it, before the flight began.
                if let cause = entry?.cause { throw cause }
                let wait = exchange.connectionWait
                waits.withLock { $0[key] = wait }
                defer { waits.withLock { if $0[key] === wait { $0[key] = nil } } }
                if exchange.transport.cookies(for: exchange.request) != key.cookies { flights.forget(key) }
                var response = ReceivedResponse()
                do {
                    let shared = Exchange(shared: exchange) { [flights] in flights.forget(key) }
                    try await shared.collectShared(into: &response)
                } catch {
                    throw UnsuccessfulExchange(error: error, response: response)
                }
                return response
            }
            call.attempt.response = response
            progress?.show(response)
        } catch let exchange as UnsuccessfulExchange {
            call.attempt.response = exchange.response
            throw exchange.error
        }
    }

    /// Cancels all exchanges for a cause, which their callers receive. Their calls must have been cancelled before. No later
    /// call joins an exchange of these calls.
    func cancelAll(for cause: CancellationCause) {
        writes.withLock { $0 += 1 }
        flights.cancelAll(for: cause)
    }

    /// Waits until no exchange that calls have shared runs: the end of one without callers is awaited by none of them.
    func drain(staysWhenCancelled: Bool) async throws(CancellationError) {
        try await flights.drain(staysWhenCancelled: staysWhenCancelled)
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
