internal import Foundation
internal import TaskControlResilience

/// The state of one attempt to send the request of a ``Call``: the request, and the part of the response that has
/// arrived.
struct Attempt: Sendable {
    enum Stage {
        /// The request has not been sent yet, for example because the credential is being obtained.
        case preparation
        /// The transport sends the request and receives the response. Errors in this stage are those of the transport,
        /// unless the upload has failed.
        case exchange
        /// The endpoint, or the code that reads the body, uses the response. Errors in this stage are those of the
        /// endpoint or of that code.
        case reading
    }

    var stage = Stage.preparation {
        didSet { if stage == .reading { isUsed = true } }
    }
    /// Whether the endpoint, or the code that reads the body, has used the response. A later time limit says no more about
    /// the host than the head of the response, since the duration of the body depends on its length.
    private var isUsed = false
    /// Whether another attempt can receive the body of the response again from its beginning.
    var canBeRepeated = true
    /// The request without the credential, which endpoints and the response observer receive; `nil` if the endpoint could not
    /// create one.
    var request: URLRequest?
    /// The exchange of the attempt; `nil` while its request is being prepared.
    var exchange: Exchange?
    /// The waits of another call's exchange, which this attempt shares; `nil` if it shares none.
    var sharedWait: ConnectionWait?
    var response = ReceivedResponse()
    /// Whether the attempt has failed because the server could not continue a download. The request is then sent again for the whole body.
    private(set) var restarts = false
    /// The serial number of the credential that the server rejected; `nil` if it has not rejected one.
    private(set) var rejectedCredential: CredentialSerial?

    /// Whether the server rejected the credential: it has answered with the status 401, and no redirect has led to another origin, which does not
    /// receive the credential.
    var isRejection: Bool {
        guard let head = response.head, head.statusCode == 401 else { return false }
        return head.url.flatMap(Origin.init) == exchange?.request.url.flatMap(Origin.init)
    }

    /// Whether the attempt, if it has failed, has failed since the file or the stream of its upload could not be opened or
    /// read.
    private var hasUploadFailed: Bool { stage == .exchange && exchange?.uploadFault?.hasOccurred == true }

    /// Returns whether the request may be sent again after this attempt has failed with an error: the body can be sent
    /// again, and the error or the status may be transient. `false` for a request that was not sent.
    ///
    /// - Parameters:
    ///   - policy: The retry policy, which lists the statuses that may be transient.
    ///   - body: The body of an upload; `nil` if the call is no upload.
    func isRetryable(after error: any Error, _ policy: HTTPRetryPolicy, _ body: UploadEndpointBody?) -> Bool {
        guard body?.canBeSentAgain != false, canBeRepeated else { return false }
        let isTransient =
            switch stage {
            case .preparation: false
            case .exchange: !hasUploadFailed && TaskControlHTTP.isRetryable(error)
            case .reading: response.head.map { policy.statuses.contains($0.statusCode) } ?? false
            }
        return isTransient && policy.shouldRetry(error)
    }

    /// Ends the attempt with an error, and returns the error for the caller: an ``EndpointError`` with the request and the response for errors of
    /// the transport and of the client, `CancellationError` for a cancelled caller, and otherwise the error unchanged.
    ///
    /// - Parameter cause: The error if the client has cancelled the call; otherwise `nil`.
    mutating func fail(with error: any Error, cancelledFor cause: CancellationCause?) -> any Error {
        if let cause { return cause }
        if Task.isCancelled { return CancellationError() }
        if error is DownloadRestart {
            restarts = true
            let detail = "the server can't continue the download, which begins with its first byte"
            return completed(EndpointError(.status, detail: detail))
        }
        if isRejection { rejectedCredential = exchange?.credential }
        if let error = error as? EndpointError { return completed(error) }
        guard stage == .exchange, !error.isOfLimit, !(error is CallRefusedError), !(error is CancellationCause)
        else { return error }
        return completed(EndpointError(.transport, underlyingError: error, isOfUpload: hasUploadFailed))
    }

    /// Returns the error of an exchange, in its task, if it can say more about the host than the head of the response: `nil`
    /// for an error of the endpoint or of the code that reads the body, and for a cancellation after the response was used.
    func errorOfHost(_ error: (any Error)?) -> (any Error)? {
        stage == .reading || isUsed && (Task.isCancelled || error?.isOfLimit == true) ? nil : error
    }

    private func completed(_ error: EndpointError) -> EndpointError {
        guard let exchange else {
            return error.completed(request: request, response: nil, data: nil, credentials: [:], decoder: nil)
        }
        return response.completed(error, of: exchange)
    }

    /// Returns what the attempt has shown about its host.
    ///
    /// - A status of 5xx or 429 is a failure.
    /// - While the request is on its way to the host, and while the response or a body that the call receives whole
    ///   arrives, a transient error of the transport is a failure; so is a time limit that ends the attempt or its call
    ///   before the response is used. Before, while a credential, a permit, a token or a connection of the transport is
    ///   waited for, they show nothing.
    /// - Otherwise, also if the endpoint, the code that reads the response, or the upload has failed, the host is healthy if the attempt has a response or no error. The outcome is unknown if it has
    ///   neither.
    ///
    /// - Parameter error: The error of the attempt or of its call; `nil` if it has none.
    func outcome(_ error: (any Error)?) -> PolicyOutcome {
        let error =
            switch stage {
            case .preparation: error.map(NotSent.init)
            case .exchange: isUsed && error?.isOfLimit == true ? nil : error
            case .reading: nil as (any Error)?
            }
        guard let exchange else { return error == nil ? .healthy : .unknown }
        return response.outcome(error, of: exchange, after: sharedWait ?? exchange.connectionWait)
    }
}

/// The error of an attempt whose request was not sent.
private struct NotSent: Error {
    let error: any Error
}

extension Error {
    /// Whether the error is that of a time limit or a deadline.
    var isOfLimit: Bool { self is TimeoutError || self is DeadlineExceededError }
}

extension HTTPURLResponse {
    /// Whether the status means that the host has failed or is overloaded: 5xx or 429.
    var isFailureOfHost: Bool { statusCode >= 500 || statusCode == 429 }
}
