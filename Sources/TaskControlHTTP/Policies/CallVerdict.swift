internal import TaskControlResilience

/// An object that reports the outcome of a call to the adaptive limit, the throttle and the breaker of its host. Only
/// the first report counts.
final class CallVerdict: Sendable {
    private let admission = Locked<_CallAdmission?>(nil)

    /// Records that the policy of the host has admitted the call.
    func begin(_ admission: _CallAdmission) {
        self.admission.withLock { $0 = admission }
    }

    private func take() -> _CallAdmission? { admission.withLock { $0.take() } }

    /// Reports the outcome of an attempt that has ended, or whose response head has arrived.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - error: The error of the attempt; `nil` if it has none.
    func report(_ attempt: Attempt, _ error: (any Error)?) {
        switch attempt.judgement(error) {
        case .healthy: take()?._succeeded()
        case .failed(let error): take()?._failed(error)
        case .unknown: take()?.withdraw()
        }
    }

    /// Reports the outcome of a call that has failed, unless its outcome was already reported. A call that has exceeded
    /// a time limit of the client is a failure of the host. A call that was cancelled or refused does not count.
    ///
    /// - Parameter error: The error that the caller of the client receives.
    func end(_ error: any Error) {
        // The time limit of the call has cancelled it.
        if error is TimeoutError, !Task.isCancelled { take()?._failed(error) } else { take()?.withdraw() }
    }
}

extension Attempt {
    /// The outcome of an attempt, as the throttle and the breaker of the host count it. They do not count an `unknown`
    /// outcome.
    enum Judgement {
        case healthy
        case failed(any Error)
        case unknown
    }

    /// Returns the outcome of the attempt for its host.
    ///
    /// - A status of 5xx or 429 is a failure.
    /// - Once the transport has begun to send the request, a transient error of the transport, and a time limit that
    ///   ends the attempt, are failures, also after the head of the response has arrived.
    /// - Otherwise the host is healthy if the attempt has a response or no error. The outcome is unknown if it has
    ///   neither.
    ///
    /// - Parameter error: The error of the attempt; `nil` if it has none.
    func judgement(_ error: (any Error)?) -> Judgement {
        if let head = response.head, head.isFailureOfHost { return .failed(failure(head, error)) }
        guard let error else { return .healthy }
        let isBrokenOff = error is TimeoutError || (error as? EndpointError)?.reason == .transport
        let isOfHost = TaskControlHTTP.isRetryable(error) && !hasWaitedInVain(error)
        if stage != .preparation, isBrokenOff, isOfHost { return .failed(error) }
        return response.head == nil ? .unknown : .healthy
    }

    /// Whether the request was not sent, because all connections of the transport to the host were in use.
    private func hasWaitedInVain(_ error: any Error) -> Bool {
        guard response.head == nil else { return false }
        return request?.connectionWait.wasInVain == true || isWaitForConnection(error)
    }

    /// Returns the error that is reported to the host's policy for a status of 5xx or 429: an ``EndpointError``, even if
    /// the endpoint has accepted the status or has thrown an error of its own.
    ///
    /// - Parameters:
    ///   - head: The head of the response with that status.
    ///   - error: The error of the attempt, which is returned if it is an ``EndpointError``; `nil` if it has none.
    private func failure(_ head: HTTPURLResponse, _ error: (any Error)?) -> any Error {
        if let error = error as? EndpointError { return error }
        return EndpointError(.status).completed(
            request: request?.requestWithoutCredentials,
            response: head,
            data: response.body,
            credentials: request?.credentials ?? [:]
        )
    }

    /// Reports the outcome of the call to the policy of its host. Called before the body is read, when the head of the
    /// response has arrived and the endpoint has accepted it.
    func reportHead() { policies.verdict?.report(self, nil) }
}

extension HTTPURLResponse {
    /// Whether the status means that the host has failed or is overloaded: 5xx or 429.
    var isFailureOfHost: Bool { statusCode >= 500 || statusCode == 429 }
}
