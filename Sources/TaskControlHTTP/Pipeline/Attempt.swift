/// One attempt of a call: the request, and the part of its response that has arrived.
struct Attempt: Sendable {
    enum Stage {
        /// Nothing has been sent.
        case preparation
        /// The request is with the transport.
        case exchange
        /// The endpoint or the reader of the body has the response, and may have used it: errors are theirs from here
        /// on.
        case reading
    }

    let policies: CallPolicies
    var stage = Stage.preparation
    /// The request; `nil` if the endpoint could not make one.
    var request: PreparedRequest?
    var response = ReceivedResponse()
    /// The key of the exchange that other calls may have joined.
    var sharingKey: ExchangeKey?
    /// Whether the server could not continue a download, set when the attempt has failed: the request is sent again,
    /// and asks for everything.
    private(set) var restarts = false
    /// The credential that the server rejected, set when the attempt has failed.
    private(set) var rejectedCredential: CredentialSerial?

    init(_ policies: CallPolicies = CallPolicies()) {
        self.policies = policies
    }

    /// Whether the server does not accept the credential. A server of another origin, where a redirect led, has not
    /// seen it.
    var isRejection: Bool {
        guard let head = response.head, head.statusCode == 401 else { return false }
        return head.url.flatMap(Origin.init) == request?.request.url.flatMap(Origin.init)
    }

    /// Returns whether another attempt may succeed.
    func isRetryable(after error: any Error, _ policy: HTTPRetryPolicy) -> Bool {
        guard request?.body?.canBeSentAgain != false, policies.isWorthRetrying(error) else { return false }
        return switch stage {
        case .preparation: false
        case .exchange: TaskControlHTTP.isRetryable(error)
        case .reading: response.head.map { policy.statuses.contains($0.statusCode) } ?? false
        }
    }

    /// Ends the attempt, and returns the error for the caller: errors of the transport and of the client contain the request
    /// and the response, all others stay unchanged, and a cancelled caller receives `CancellationError`.
    mutating func fail(with error: any Error) -> any Error {
        if Task.isCancelled { return CancellationError() }
        if error is DownloadRestart {
            restarts = true
            return completed(
                HTTPError(.status, detail: "the server can't continue the download, which begins with its first byte")
            )
        }
        if isRejection { rejectedCredential = request?.credential }
        if let error = error as? HTTPError { return completed(error) }
        guard stage == .exchange, !(error is TimeoutError) else { return error }
        return completed(HTTPError(.transport, underlyingError: error))
    }

    private func completed(_ error: HTTPError) -> HTTPError {
        error.completed(
            request: request?.requestWithoutCredentials,
            response: response.head,
            data: response.body,
            credentials: request?.credentials ?? [:]
        )
    }
}
