internal import Foundation
internal import TaskControlResilience

/// The exchange of one attempt: one request on the network and its response, or, if the response takes long, several, of which
/// the first that succeeds is used (*hedging*). Each of these exchanges enters the parts that the policy of the host has around
/// attempts, and then has the time limit of an attempt.
final class Exchange: Sendable {
    /// The request with its credential.
    let request: URLRequest
    let requestWithoutCredential: URLRequest
    let body: UploadEndpointBody?
    /// The serial number of the authenticator's credential in ``request``; `nil` if there is none.
    let credential: CredentialSerial?
    /// The JSON decoder of the call, with which the body of an error is read.
    let decoder: JSONDecoder
    /// The waits before the request was sent.
    let connectionWait: ConnectionWait
    /// The record of whether the file or the stream of the body has failed; `nil` if the body is neither.
    let uploadFault: UploadFault?
    let transport: any HTTPTransport
    /// The place of the call, for a transport that the client can cancel directly; `nil` if a task is cancelled instead.
    private let entry: CallEntry?
    private let clock: any Clock<Duration>
    private let limit: Int?
    private let timeout: Duration?
    private let silenceLimit: Duration?
    private let allowsInsecureRedirects: Bool
    /// The header that is added to ``request`` when it is sent, with the time until the deadline; `nil` for none.
    private let deadlineHeader: DeadlineHeader?
    private let policy: ResiliencePolicy?
    /// The record of the call under that policy; `nil` without a policy.
    private let record: _SharedCall?
    private let hedging: ResiliencePolicy.Hedging?
    /// A closure that the transport calls before it follows a redirect; `nil` if there is none.
    private let willFollowRedirect: (@Sendable () -> Void)?

    /// Creates the exchange of an attempt.
    ///
    /// - Parameters:
    ///   - request: The request, with its credential.
    ///   - requestWithoutCredential: The request without it.
    ///   - credential: The serial number of the credential; `nil` if there is none.
    ///   - call: The call.
    ///   - policy: The policy of the host; `nil` for none.
    ///   - record: The record of the call under that policy.
    init(
        _ request: URLRequest,
        withoutCredential requestWithoutCredential: URLRequest,
        _ credential: CredentialSerial?,
        of call: Call,
        under policy: ResiliencePolicy?,
        _ record: _SharedCall?
    ) {
        (self.request, self.requestWithoutCredential, self.credential) = (request, requestWithoutCredential, credential)
        (body, decoder, transport) = (call.body, call.coding.decoder, call.client.transport)
        entry = call.entryOfExchange
        (self.policy, self.record) = (policy, record)
        let policies = call.policies
        (clock, limit, timeout) = (policies.clock, policies.bodyLimit, policies.attemptTimeout)
        silenceLimit = policies.silenceLimit
        allowsInsecureRedirects = policies.allowsInsecureRedirects
        connectionWait = ConnectionWait()
        uploadFault = UploadFault.record(for: call.body)
        willFollowRedirect = nil
        // The callers of a shared request have different deadlines.
        let isShared = policies.coalescesGETRequests && request.httpMethod == "GET"
        deadlineHeader = isShared ? nil : policies.deadlineHeader
        // Otherwise, the duration of the call depends on the length of a body.
        let canBeHedged = call.isCollected && call.body == nil && HTTPRetryPolicy.isIdempotent(request)
        hedging = canBeHedged ? policy?.hedging : nil
    }

    /// Creates the exchange of a request that several calls share. The breaker counts it once, by itself.
    ///
    /// - Parameters:
    ///   - exchange: The exchange of the call that begins it.
    ///   - willFollowRedirect: Called before the transport follows a redirect.
    init(shared exchange: Exchange, willFollowRedirect: @escaping @Sendable () -> Void) {
        (request, requestWithoutCredential) = (exchange.request, exchange.requestWithoutCredential)
        (body, credential, decoder) = (exchange.body, exchange.credential, exchange.decoder)
        (connectionWait, uploadFault) = (exchange.connectionWait, exchange.uploadFault)
        (transport, clock, limit) = (exchange.transport, exchange.clock, exchange.limit)
        entry = nil
        (timeout, deadlineHeader) = (exchange.timeout, exchange.deadlineHeader)
        silenceLimit = exchange.silenceLimit
        allowsInsecureRedirects = exchange.allowsInsecureRedirects
        (policy, hedging) = (exchange.policy, exchange.hedging)
        record = policy.map { _ in _SharedCall() }
        self.willFollowRedirect = willFollowRedirect
    }

    /// The headers that the authenticator attached, by name.
    var credentials: [String: String] {
        guard credential != nil else { return [:] }
        let without = requestWithoutCredential.allHTTPHeaderFields ?? [:]
        return (request.allHTTPHeaderFields ?? [:]).filter { without[$0.key] != $0.value }
    }

    /// Returns the request in the form that a transport receives, with the time that is left now until the deadline.
    ///
    /// - Parameter progress: Reports the bytes that are sent; `nil` for no reports.
    @inline(never)
    private func transportRequest(_ progress: ProgressReporter.Transfer?) -> HTTPTransportRequest {
        var transportRequest = HTTPTransportRequest(
            request,
            body: recordedBody,
            // No redirect takes the authenticator's headers to another origin, whatever their names are.
            credentialHeaders: Set(credentials.keys),
            allowsInsecureRedirects: allowsInsecureRedirects,
            didSend: progress?.didSend
        )
        transportRequest.call = entry
        transportRequest.connectionWait = connectionWait
        transportRequest.uploadFault = uploadFault
        transportRequest.willFollowRedirect = willFollowRedirect
        if let deadlineHeader {
            transportRequest.deadlineHeader = deadlineHeader
            transportRequest.setDeadline(in: deadlineHeader)
        }
        return transportRequest
    }

    /// The body, which records whether its stream can be opened, also if a transport of another module opens it.
    private var recordedBody: UploadEndpointBody? {
        guard let uploadFault, case .stream(let stream) = body else { return body }
        return .stream(
            UploadEndpointBody.Stream(length: stream.length, canBeSentAgain: stream.canBeSentAgain) {
                try uploadFault.opening(stream.open)
            }
        )
    }

    /// Sends the request, and passes the response to a closure as it arrives.
    ///
    /// - Parameters:
    ///   - progress: Reports the progress; `nil` for no reports.
    ///   - errorOfHost: Returns the error of the exchange, or `nil` if this error says nothing about the host. By default
    ///     the error.
    ///   - receive: Receives the response when its head has arrived.
    func withResponse(
        _ progress: ProgressReporter.Transfer?,
        error errorOfHost: ((any Error)?) -> (any Error)? = { $0 },
        _ receive: (HTTPTransportResponse) async throws -> Void
    ) async throws {
        if policy?.parts.hasAttemptParts == true {
            try await withParts(progress, errorOfHost, receive)
        } else if timeout != nil || silenceLimit != nil {
            try await send(progress, receive)
        } else {
            try await transport.withResponse(to: transportRequest(progress), receive)
        }
    }

    @inline(never)
    private func withParts(
        _ progress: ProgressReporter.Transfer?,
        _ errorOfHost: ((any Error)?) -> (any Error)?,
        _ receive: (HTTPTransportResponse) async throws -> Void
    ) async throws {
        guard let policy, var record else { return }
        var response = ReceivedResponse()
        connectionWait.begin()
        try await policy._attempt(&record, outcome: { outcome(errorOfHost($0), response) }) {
            // The waits can have taken the rest of the time.
            try Task.checkDeadline()
            connectionWait.send()
            try await send(progress) { arriving in
                response.head = arriving.head
                try await receive(arriving)
            }
        }
    }

    /// Sends the request, with the limits of an attempt and of silence if there are any.
    @inline(never)
    private func send(
        _ progress: ProgressReporter.Transfer?,
        _ receive: (HTTPTransportResponse) async throws -> Void
    ) async throws {
        // `self`: without it, the compiler (Swift 6.3) does not open the existential.
        try await self.clock.limited(to: timeout) {
            guard let silenceLimit else {
                return try await transport.withResponse(to: transportRequest(progress), receive)
            }
            let silence = SilenceLimit(silenceLimit, clock: self.clock)
            try await silence.run(lent: {
                try await transport.withResponse(to: transportRequest(progress)) { response in
                    let body = response.body.limited(by: silence)
                    try await receive(HTTPTransportResponse(head: response.head, body: body))
                }
            })
        }
    }

    /// Returns the outcome of one exchange.
    private func outcome(_ error: (any Error)?, _ response: ReceivedResponse) -> PolicyOutcome {
        let isOfTransport = error.map { !$0.isOfLimit && isRetryable($0) } ?? false
        return response.outcome(
            isOfTransport ? EndpointError(.transport, underlyingError: error) : error,
            of: self,
            after: connectionWait
        )
    }

    /// Sends a request that several calls share, and collects the response.
    func collectShared(into response: inout ReceivedResponse) async throws {
        guard let policy, var record else { return try await collect(into: &response, nil) }
        policy._begin(&record)
        do {
            try await collect(into: &response, nil)
            policy._report(&record, response.outcome(nil, of: self, after: connectionWait))
        } catch {
            policy._report(&record, policy._outcome(of: error, &record) { outcome($0, response) })
            throw error
        }
    }

    /// Sends the request and collects the response. With hedging, the request is sent again if the response takes long or
    /// if the exchange fails with an error that the rule accepts; progress is then reported only at the end. All
    /// exchanges have ended when this function returns.
    ///
    /// - Parameters:
    ///   - response: Receives the head and the body of the exchange whose result is used, also if that exchange fails.
    ///   - progress: Reports the progress; `nil` for no reports.
    /// - Throws: The error of the exchange whose result is used; ``EndpointError/Reason/bodyTooLarge`` if the body is
    ///   larger than ``ClientPolicies/bodyLimit``.
    func collect(into response: inout ReceivedResponse, _ progress: ProgressReporter.Transfer?) async throws {
        if hedging != nil {
            try await collectHedged(into: &response)
            progress?.show(response)
        } else {
            try await withResponse(progress) { try await receive($0, into: &response, progress) }
        }
    }

    @inline(never)
    private func collectHedged(into response: inout ReceivedResponse) async throws {
        guard let hedging else { return }
        do {
            response = try await withHedging(
                after: hedging.delay,
                maxHedges: hedging.maxHedges,
                budget: hedging.budget,
                // `self`: without it, the compiler (Swift 6.3) does not open the existential.
                clock: self.clock,
                operation: { try await self.answer() },
                shouldHedge: {
                    let error = ($0 as? UnsuccessfulExchange)?.error ?? $0
                    return isRetryable(error) && hedging.shouldHedge(error)
                }
            )
        } catch let exchange as UnsuccessfulExchange {
            response = exchange.response
            if !exchange.isComplete { throw exchange.error }
        }
    }

    /// Sends the request once and collects its response.
    ///
    /// - Throws: `UnsuccessfulExchange` if the exchange fails, or if the status of the response means that the host has
    ///   failed; `CallRefusedError` if nothing was sent.
    private func answer() async throws -> ReceivedResponse {
        var response = ReceivedResponse()
        do {
            try await withResponse(nil) { try await receive($0, into: &response, nil) }
        } catch let error as CallRefusedError {
            throw error
        } catch {
            throw UnsuccessfulExchange(error: error, response: response)
        }
        guard response.head?.isFailureOfHost == true else { return response }
        let error = response.completed(EndpointError(.status), of: self)
        throw UnsuccessfulExchange(error: error, response: response, isComplete: true)
    }

    /// Collects a response as it arrives.
    @inline(never)
    private func receive(
        _ arriving: HTTPTransportResponse,
        into response: inout ReceivedResponse,
        _ progress: ProgressReporter.Transfer?
    ) async throws {
        response.head = arriving.head
        progress?.expect(arriving.head)
        for try await chunk in arriving.body {
            try response.append(chunk, limit)
            progress?.didReceive(chunk.count)
        }
        if response.body == nil { response.body = Data() }
    }
}

/// The error of a failed exchange, with the part of the response that had arrived. Every call that shares the exchange
/// reports both.
struct UnsuccessfulExchange: EventDescribable, RetryAdvising, Interruption {
    let error: any Error
    let response: ReceivedResponse
    /// Whether the whole response has arrived, so that it is passed to the endpoint although its status is 5xx or 429.
    var isComplete = false

    var eventText: String { Redaction.eventText(of: error) }
    var retryAfter: Duration? { response.head?.retryAfter() }
    package var isInterruption: Bool { TaskControl.isInterruption(error) }
}

extension EndpointError {
    static func bodyTooLarge(_ limit: Int) -> EndpointError {
        EndpointError(
            .bodyTooLarge,
            detail:
                "more than \(limit) bytes, the limit of ClientPolicies.bodyLimit: raise it, or use download(_:to:) or withResponse(to:), which "
                + "have none"
        )
    }
}
