internal import TaskControlResilience

/// Reports the outcome of a call to the throttle and the breaker of its host. Only the first report counts.
final class CallVerdict: Sendable {
    private let admission = Locked<_CallAdmission?>(nil)

    /// Records that the policy of the host has admitted the call.
    func begin(_ admission: _CallAdmission) {
        self.admission.withLock { $0 = admission }
    }

    private func take() -> _CallAdmission? { admission.withLock { $0.take() } }

    /// Reports the outcome of an attempt that has ended, or whose response has arrived.
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

    /// Ends a call whose outcome was not reported, because the call was cancelled or refused.
    ///
    /// - Parameter error: The error that the caller of the client receives.
    func end(_ error: any Error) {
        // The time limit of the call has cancelled it.
        if error is TimeoutError, !Task.isCancelled { take()?._failed(error) } else { take()?.withdraw() }
    }
}

extension Attempt {
    /// The outcome of an attempt, as the throttle and the breaker of the host count it.
    enum Judgement {
        case healthy
        case failed(any Error)
        case unknown
    }

    /// Returns the outcome of the attempt for its host: by the status of the response, or by the error if there is no
    /// response.
    func judgement(_ error: (any Error)?) -> Judgement {
        if let head = response.head, head.isFailureOfHost { return .failed(failure(head, error)) }
        guard let error else { return .healthy }
        let isBrokenOff = error is TimeoutError || (error as? HTTPError)?.reason == .transport
        if stage != .preparation, isBrokenOff, TaskControlHTTP.isRetryable(error) { return .failed(error) }
        return response.head == nil ? .unknown : .healthy
    }

    /// Returns the error that stands for a status of failure, even if the endpoint has accepted the status or has
    /// thrown an error of its own.
    private func failure(_ head: HTTPURLResponse, _ error: (any Error)?) -> any Error {
        if let error = error as? HTTPError { return error }
        return HTTPError(.status).completed(
            request: request?.requestWithoutCredentials,
            response: head,
            data: response.body,
            credentials: request?.credentials ?? [:]
        )
    }

    /// Reports the outcome of the call when the head of its response has arrived and the endpoint has accepted it.
    func reportHead() { policies.verdict?.report(self, nil) }
}

extension HTTPURLResponse {
    /// Whether the status means that the host has failed or is overloaded: 5xx or 429.
    var isFailureOfHost: Bool { statusCode >= 500 || statusCode == 429 }
}
