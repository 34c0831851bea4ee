internal import TaskControlResilience

/// Reports the outcome of a call to the throttle and the breaker of its host. Only the first report counts.
final class CallVerdict: Sendable {
    private let admission = Locked<_CallAdmission?>(nil)

    /// The call is admitted.
    func begin(_ admission: _CallAdmission) {
        self.admission.withLock { $0 = admission }
    }

    private func take() -> _CallAdmission? { admission.withLock { $0.take() } }

    /// Reports the outcome of an attempt that has ended, or whose response is there.
    ///
    /// - Parameter error: The error of the attempt; `nil`: it has none.
    func report(_ attempt: Attempt, _ error: (any Error)?) {
        switch attempt.judgement(error) {
        case .healthy: take()?._succeeded()
        case .failed(let error): take()?._failed(error)
        case .unknown: take()?.withdraw()
        }
    }

    /// Ends a call whose outcome was not reported, since the call was cancelled or refused.
    ///
    /// - Parameter error: The error that the caller of the client receives.
    func end(_ error: any Error) {
        // The time limit of the call has cancelled it.
        if error is TimeoutError, !Task.isCancelled { take()?._failed(error) } else { take()?.withdraw() }
    }
}

extension Attempt {
    /// The verdict of an attempt on the host.
    enum Judgement {
        case healthy
        case failed(any Error)
        case unknown
    }

    /// Judges the host by the status, and without a response by the error.
    func judgement(_ error: (any Error)?) -> Judgement {
        if let head = response.head, head.isFailureOfHost { return .failed(failure(head, error)) }
        guard let error else { return .healthy }
        let isBrokenOff = error is TimeoutError || (error as? HTTPError)?.reason == .transport
        if stage != .preparation, isBrokenOff, TaskControlHTTP.isRetryable(error) { return .failed(error) }
        return response.head == nil ? .unknown : .healthy
    }

    /// The error of a status, also where the endpoint has accepted it or has thrown its own.
    private func failure(_ head: HTTPURLResponse, _ error: (any Error)?) -> any Error {
        if let error = error as? HTTPError { return error }
        return HTTPError(.status).completed(
            request: request?.requestWithoutCredentials,
            response: head,
            data: response.body,
            credentials: request?.credentials ?? [:]
        )
    }

    /// Reports the outcome of the call when its head is there, and the endpoint has accepted it.
    func reportHead() { policies.verdict?.report(self, nil) }
}

extension HTTPURLResponse {
    /// Whether the status says that the host has failed, or has too much to do.
    var isFailureOfHost: Bool { statusCode >= 500 || statusCode == 429 }
}
