internal import Foundation

/// The request of one attempt, with its credential and its body.
struct PreparedRequest: Sendable {
    /// The request with its credential.
    var request: URLRequest
    /// The request without the credential, which endpoints and the response observer receive.
    let requestWithoutCredentials: URLRequest
    let body: UploadEndpointBody?
    /// The JSON decoder of the client, with which the body of an error is read.
    let decoder: JSONDecoder
    /// The serial number of the authenticator's credential in ``request``; `nil` if there is none.
    var credential: CredentialSerial?
    /// The header that is added to ``request`` when it is sent, with the time until the deadline; `nil` for none.
    var deadlineHeader: DeadlineHeader?
    /// Whether the transport follows redirects from HTTPS to HTTP.
    var allowsInsecureRedirects = false
    /// The waits before the request was sent; if it shares the exchange of another call, those of that exchange.
    var connectionWait = ConnectionWait()
    /// The record of whether the file or the stream of the body has failed; `nil` if the body is neither.
    let uploadFault: UploadFault?
    /// A closure that the transport calls before it follows a redirect; `nil` if there is none.
    var willFollowRedirect: (@Sendable () -> Void)?

    /// Creates a request without a credential: `body` is that of an upload, and `decoder` the JSON decoder of the client.
    init(_ request: URLRequest, _ body: UploadEndpointBody?, _ decoder: JSONDecoder) {
        (self.request, requestWithoutCredentials) = (request, request)
        (self.body, self.decoder) = (body, decoder)
        uploadFault = UploadFault.record(for: body)
    }

    /// The headers that the authenticator attached, by name.
    var credentials: [String: String] {
        guard credential != nil else { return [:] }
        let without = requestWithoutCredentials.allHTTPHeaderFields ?? [:]
        return (request.allHTTPHeaderFields ?? [:]).filter { without[$0.key] != $0.value }
    }

    /// Returns the request in the form that a transport receives, with the time that is left now until the deadline.
    ///
    /// - Parameter progress: Reports the bytes that are sent; `nil` for no reports.
    func transportRequest(_ progress: ProgressReporter.Transfer?) -> HTTPTransportRequest {
        var transportRequest = HTTPTransportRequest(
            request,
            body: recordedBody,
            // No redirect takes the authenticator's headers to another origin, whatever their names are.
            credentialHeaders: Set(credentials.keys),
            allowsInsecureRedirects: allowsInsecureRedirects,
            didSend: progress?.didSend
        )
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
}
