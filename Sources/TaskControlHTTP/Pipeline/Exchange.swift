internal import Foundation
internal import TaskControlResilience

/// The exchanges of one attempt: one request on the network and its response, or, if the response takes long, several,
/// of which the first that succeeds is used (*hedging*). Each exchange enters the parts that the policy of the host has
/// around attempts, and then has the time limit of an attempt.
struct Exchange: Sendable {
    let transport: any HTTPTransport
    private let clock: any Clock<Duration>
    private let limit: Int?
    private let timeout: Duration?
    private var policy: ResiliencePolicy?
    /// The call under that policy; `nil` without a policy.
    private(set) var call: _SharedCall?
    private var hedging: ResiliencePolicy.Hedging?

    /// Creates exchanges without a policy.
    init(_ pipeline: RequestPipeline) {
        transport = pipeline.transport
        clock = pipeline.policies.clock
        limit = pipeline.policies.bodyLimit
        timeout = pipeline.policies.attemptTimeout
    }

    /// Applies the policy of a host.
    ///
    /// - Parameters:
    ///   - policy: The policy; `nil` for none.
    ///   - call: The call, which has entered the parts around it.
    ///   - request: The request of the call.
    ///   - isTransfer: Whether the duration of the call depends on the length of a body: `true` for an upload, and for
    ///     a response that is streamed or written to a file.
    mutating func apply(
        _ policy: ResiliencePolicy?,
        _ call: _PolicyCall,
        to request: URLRequest,
        isTransfer: Bool
    ) {
        self.policy = policy
        self.call = policy.map { _ in _SharedCall(of: call) }
        hedging = isTransfer || !HTTPRetryPolicy.isIdempotent(request) ? nil : policy?.hedging
    }

    /// Sends a request, and passes the response to a closure as it arrives.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - progress: Reports the progress; `nil` for no reports.
    ///   - errorOfHost: Returns the error of the exchange, or `nil` if this error says nothing about the host. By default
    ///     the error.
    ///   - receive: Receives the response when its head has arrived.
    func withResponse<Value>(
        to request: PreparedRequest,
        _ progress: ProgressReporter.Transfer?,
        error errorOfHost: ((any Error)?) -> (any Error)? = { $0 },
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        guard let policy, policy.parts.hasAttemptParts, var call else {
            return try await clock.limited(to: timeout) {
                try await transport.withResponse(to: request.transportRequest(progress), receive)
            }
        }
        var response = ReceivedResponse()
        request.connectionWait.begin()
        return try await policy._attempt(
            &call,
            outcome: { Self.outcome(errorOfHost($0), response, of: request) }
        ) {
            // The waits can have taken the rest of the time.
            try Task.checkDeadline()
            request.connectionWait.send()
            // `self`: without it, the compiler (Swift 6.3) does not open the existential.
            return try await self.clock.limited(to: timeout) {
                try await transport.withResponse(to: request.transportRequest(progress)) { arriving in
                    response.head = arriving.head
                    return try await receive(arriving)
                }
            }
        }
    }

    /// Returns the outcome of one exchange.
    private static func outcome(
        _ error: (any Error)?,
        _ response: ReceivedResponse,
        of request: PreparedRequest
    ) -> PolicyOutcome {
        let isOfTransport = error.map { !$0.isOfLimit && isRetryable($0) } ?? false
        return response.outcome(
            isOfTransport ? EndpointError(.transport, underlyingError: error) : error,
            of: request
        )
    }

    /// Sends a request that several calls share, and collects the response. The breaker counts it once, by itself.
    func collectShared(_ request: PreparedRequest, into response: inout ReceivedResponse) async throws {
        guard let policy else { return try await collect(request, into: &response, nil) }
        var (exchange, call) = (self, _SharedCall())
        exchange.call = call
        policy._begin(&call)
        do {
            try await exchange.collect(request, into: &response, nil)
            policy._report(&call, response.outcome(nil, of: request))
        } catch {
            policy._report(&call, policy._outcome(of: error, &call) { Self.outcome($0, response, of: request) })
            throw error
        }
    }

    /// Sends a request and collects the response. With hedging, the request is sent again if the response takes long or
    /// if the exchange fails with an error that the rule accepts; progress is then reported only at the end. All
    /// exchanges have ended when this function returns.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - response: Receives the head and the body of the exchange whose result is used, also if that exchange fails.
    ///   - progress: Reports the progress; `nil` for no reports.
    /// - Throws: The error of the exchange whose result is used; ``EndpointError/Reason/bodyTooLarge`` if the body is
    ///   larger than ``ClientPolicies/bodyLimit``.
    func collect(
        _ request: PreparedRequest,
        into response: inout ReceivedResponse,
        _ progress: ProgressReporter.Transfer?
    ) async throws {
        guard let hedging else { return try await collectOnce(request, into: &response, progress) }
        do {
            response = try await withHedging(
                after: hedging.delay,
                maxHedges: hedging.maxHedges,
                budget: hedging.budget,
                // `self`: without it, the compiler (Swift 6.3) does not open the existential.
                clock: self.clock,
                operation: { try await answer(to: request) },
                shouldHedge: {
                    let error = ($0 as? UnsuccessfulExchange)?.error ?? $0
                    return isRetryable(error) && hedging.shouldHedge(error)
                }
            )
        } catch let exchange as UnsuccessfulExchange {
            response = exchange.response
            if !exchange.isComplete { throw exchange.error }
        }
        progress?.show(response)
    }

    /// Sends a request once and collects its response.
    ///
    /// - Throws: `UnsuccessfulExchange` if the exchange fails, or if the status of the response means that the host has
    ///   failed; `CallRefusedError` if nothing was sent.
    private func answer(to request: PreparedRequest) async throws -> ReceivedResponse {
        var response = ReceivedResponse()
        do {
            try await collectOnce(request, into: &response, nil)
        } catch let error as CallRefusedError {
            throw error
        } catch {
            throw UnsuccessfulExchange(error: error, response: response)
        }
        guard response.head?.isFailureOfHost == true else { return response }
        let error = response.completed(EndpointError(.status), of: request)
        throw UnsuccessfulExchange(error: error, response: response, isComplete: true)
    }

    private func collectOnce(
        _ request: PreparedRequest,
        into response: inout ReceivedResponse,
        _ progress: ProgressReporter.Transfer?
    ) async throws {
        try await withResponse(to: request, progress) { arriving in
            response.head = arriving.head
            progress?.expect(arriving.head)
            var rest = limit.map { max(0, $0) }
            for try await chunk in arriving.body {
                rest = rest.map { $0 - chunk.count }
                if let limit, let rest, rest < 0 { throw EndpointError.bodyTooLarge(limit) }
                response.append(chunk)
                progress?.didReceive(chunk.count)
            }
            if response.body == nil { response.body = Data() }
        }
    }
}

/// The error of a failed exchange, with the part of the response that had arrived. Every call that shares the exchange
/// reports both.
struct UnsuccessfulExchange: EventDescribable, RetryAfterProviding, Interruption {
    let error: any Error
    let response: ReceivedResponse
    /// Whether the whole response has arrived, so that it is passed to the endpoint although its status is 5xx or 429.
    var isComplete = false

    var eventText: String { Redaction.eventText(of: error) }
    var retryAfter: Duration? { response.head?.retryAfter() }
    package var isInterruption: Bool { TaskControl.isInterruption(error) }
}

extension EndpointError {
    fileprivate static func bodyTooLarge(_ limit: Int) -> EndpointError {
        EndpointError(
            .bodyTooLarge,
            detail:
                "more than \(limit) bytes, the limit of ClientPolicies.bodyLimit: raise it, or use download(_:to:) or withResponse(to:), which "
                + "have none"
        )
    }
}
