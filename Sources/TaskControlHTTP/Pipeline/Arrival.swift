/// A request that is ready to be sent.
struct Outgoing: Sendable {
    /// With its credential.
    var request: URLRequest
    /// Without it: what endpoints and observers see.
    let shown: URLRequest
    let body: UploadEndpointBody?
    /// Which credential of the authenticator it carries.
    var credential: CredentialSerial?
    /// Called by the transport before it follows a redirect.
    var willFollowRedirect: (@Sendable () -> Void)?

    /// As a transport takes it.
    func transported(_ progress: ProgressReporter.Attempt?) -> HTTPTransportRequest {
        var transported = HTTPTransportRequest(
            request,
            body: body,
            // What the authenticator attached goes nowhere else, whatever its name is.
            credentialHeaders: credential == nil ? [] : Set(credentials.keys),
            didSend: progress?.didSend
        )
        transported.willFollowRedirect = willFollowRedirect
        return transported
    }

    /// The headers that the authenticator attached.
    var credentials: [String: String] {
        let (with, without) = (request.allHTTPHeaderFields ?? [:], shown.allHTTPHeaderFields ?? [:])
        return with.filter { without[$0.key] != $0.value }
    }
}

/// How far an attempt has come, and what has arrived.
struct Arrival: Sendable {
    enum Stage {
        /// Nothing has been sent.
        case preparation
        case exchange
        /// The response is with the endpoint, or with who reads its body. It can't be taken back from there.
        case reading
    }

    var stage = Stage.preparation
    /// Where it was sent: an authenticator may have changed that.
    var url: URL?
    var response: HTTPURLResponse?
    var data: Data?
    /// What the authenticator attached.
    var credentials: [String: String] = [:]
    /// Of an exchange that others may take part in.
    var shared: ExchangeKey?

    /// Whether the server that was asked does not take the credential; one of another origin, where a redirect led, has not seen it.
    var isRejection: Bool {
        response?.statusCode == 401 && response?.url.flatMap(Origin.init) == url.flatMap(Origin.init)
    }

    /// Whether another attempt may have more luck.
    func mayPass(after error: any Error, _ policy: HTTPRetryPolicy?) -> Bool {
        guard let policy else { return false }
        return switch stage {
        case .preparation: false
        case .exchange: TaskControlHTTP.mayPass(error)
        case .reading: response.map { policy.statuses.contains($0.statusCode) } ?? false
        }
    }

    mutating func append(_ chunk: Data) {
        // The first one is taken over as it is: often it is the whole.
        if data?.isEmpty == false { data?.append(chunk) } else { data = chunk }
    }
}

/// What came of an attempt that failed, with what the policies need to know.
struct FailedAttempt: Error, RetryAfterProviding {
    /// What the caller is to see.
    let error: any Error
    /// The credential that the server rejected.
    let rejected: CredentialSerial?
    let mayPass: Bool
    let retryAfter: Duration?
}

extension HTTPTransport {
    /// Sends a request and gathers what comes.
    ///
    /// - Parameter limit: The most bytes of a body; more end the exchange.
    func gather(
        _ outgoing: Outgoing,
        _ arrival: inout Arrival,
        limit: Int?,
        _ progress: ProgressReporter.Attempt?
    ) async throws {
        try await withResponse(to: outgoing.transported(progress)) { response in
            arrival.response = response.head
            progress?.expect(response.head)
            var rest = limit.map { max(0, $0) }
            for try await chunk in response.body {
                rest = rest.map { $0 - chunk.count }
                if let limit, let rest, rest < 0 { throw HTTPError.bodyTooLarge(limit) }
                arrival.append(chunk)
                progress?.didReceive(chunk.count)
            }
            if arrival.data == nil { arrival.data = Data() }
        }
    }
}

extension HTTPError {
    fileprivate static func bodyTooLarge(_ limit: Int) -> HTTPError {
        HTTPError(
            .bodyTooLarge,
            detail:
                "more than \(limit) bytes, the limit of ClientPolicies.bodyLimit: raise it, or use download(_:to:) or withResponse(to:), which "
                + "have none"
        )
    }
}
