/// The state of one attempt to send the request of a ``Call``: the request, and the part of the response that has
/// arrived.
struct Attempt: Sendable {
    enum Stage {
        /// The request has not been sent yet, for example because the credential is being obtained.
        case preparation
        /// The transport sends the request and receives the response.
        case exchange
        /// The endpoint, or the code that reads the body, uses the response. Errors in this stage are those of the
        /// endpoint or of that code.
        case reading
    }

    let policies: CallPolicies
    var stage = Stage.preparation
    /// The request; `nil` if the endpoint could not create one.
    var request: PreparedRequest?
    var response = ReceivedResponse()
    /// The key of the exchange that this attempt shares with other calls; `nil` if it is not shared.
    var sharingKey: ExchangeKey?
    /// Whether the attempt has failed because the server could not continue a download. The request is then sent again for the whole body.
    private(set) var restarts = false
    /// The serial number of the credential that the server rejected; `nil` if it has not rejected one.
    private(set) var rejectedCredential: CredentialSerial?

    init(_ policies: CallPolicies = CallPolicies()) {
        self.policies = policies
    }

    /// Whether the server rejected the credential: it has answered with the status 401, and no redirect has led to another origin, which does not
    /// receive the credential.
    var isRejection: Bool {
        guard let head = response.head, head.statusCode == 401 else { return false }
        return head.url.flatMap(Origin.init) == request?.request.url.flatMap(Origin.init)
    }

    /// Returns whether the request may be sent again after this attempt has failed with an error: the body can be sent
    /// again, the error or the status may be transient, and the policy of the host does not exclude the error. `false`
    /// for a request that was not sent.
    ///
    /// - Parameter policy: The retry policy, which lists the statuses that may be transient.
    func isRetryable(after error: any Error, _ policy: HTTPRetryPolicy) -> Bool {
        guard request?.body?.canBeSentAgain != false, policies.isWorthRetrying(error) else { return false }
        return switch stage {
        case .preparation: false
        case .exchange: TaskControlHTTP.isRetryable(error)
        case .reading: response.head.map { policy.statuses.contains($0.statusCode) } ?? false
        }
    }

    /// Ends the attempt with an error, and returns the error for the caller: an ``EndpointError`` with the request and the response for errors of the
    /// transport and of the client, `CancellationError` for a cancelled caller, and otherwise the error unchanged.
    mutating func fail(with error: any Error) -> any Error {
        if Task.isCancelled { return CancellationError() }
        if error is DownloadRestart {
            restarts = true
            return completed(
                EndpointError(
                    .status,
                    detail: "the server can't continue the download, which begins with its first byte"
                )
            )
        }
        if isRejection { rejectedCredential = request?.credential }
        if let error = error as? EndpointError { return completed(error) }
        guard stage == .exchange, !(error is TimeoutError) else { return error }
        return completed(EndpointError(.transport, underlyingError: error))
    }

    private func completed(_ error: EndpointError) -> EndpointError {
        error.completed(
            request: request?.requestWithoutCredentials,
            response: response.head,
            data: response.body,
            credentials: request?.credentials ?? [:]
        )
    }
}
