/// The request of one attempt, with its credential and its body.
struct PreparedRequest: Sendable {
    /// The request with its credential.
    var request: URLRequest
    /// The request without the credential, which endpoints and the response observer receive.
    let requestWithoutCredentials: URLRequest
    let body: UploadEndpointBody?
    /// The serial number of the authenticator's credential in ``request``; `nil` if there is none.
    var credential: CredentialSerial?
    /// The header of ``request`` that contains the time until the deadline; `nil` if there is none.
    var deadlineHeader: DeadlineHeader?
    /// Whether the transport follows redirects from HTTPS to HTTP.
    var allowsInsecureRedirects = false
    /// A closure that the transport calls before it follows a redirect; `nil` if there is none.
    var willFollowRedirect: (@Sendable () -> Void)?

    /// Creates a request without a credential.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: The body of an upload; `nil` if the request is no upload.
    init(_ request: URLRequest, _ body: UploadEndpointBody?) {
        self.request = request
        requestWithoutCredentials = request
        self.body = body
    }

    /// The headers that the authenticator attached, by name.
    var credentials: [String: String] {
        guard credential != nil else { return [:] }
        let without = requestWithoutCredentials.allHTTPHeaderFields ?? [:]
        return (request.allHTTPHeaderFields ?? [:]).filter { without[$0.key] != $0.value }
    }

    /// Sets the header with the time until the deadline to the time that is left now, if the request has such a header.
    mutating func updateDeadline() {
        guard let deadlineHeader, let remaining = Task.currentDeadline?.remaining else { return }
        request.setValue(deadlineHeader.value(for: remaining), forHTTPHeaderField: deadlineHeader.name)
    }

    /// Returns the request in the form that a transport receives.
    ///
    /// - Parameter progress: Reports the bytes that are sent; `nil` for no reports.
    func transportRequest(_ progress: ProgressReporter.Transfer?) -> HTTPTransportRequest {
        var transportRequest = HTTPTransportRequest(
            request,
            body: body,
            // No redirect takes the authenticator's headers to another origin, whatever their names are.
            credentialHeaders: Set(credentials.keys),
            allowsInsecureRedirects: allowsInsecureRedirects,
            didSend: progress?.didSend
        )
        transportRequest.willFollowRedirect = willFollowRedirect
        return transportRequest
    }
}
