/// An error of a transport that states whether another attempt may succeed. After any other error of a transport, another attempt may succeed.
protocol TransportFailure: Error {
    /// Whether the request may succeed if it is sent again.
    var isRetryable: Bool { get }
}

/// Returns whether a request may succeed if it is sent again after an error of a transport.
func isRetryable(_ error: any Error) -> Bool {
    // Apple's URLSession throws an NSError, which a cast bridges to a type and not to a protocol.
    if let error = error as? URLError { return error.isRetryable }
    if let error = error as? CocoaError { return error.isRetryable }
    return (error as? any TransportFailure)?.isRetryable ?? true
}

extension URLError: TransportFailure {
    var isRetryable: Bool {
        switch code {
        case .badURL, .unsupportedURL, .redirectToNonExistentLocation, .httpTooManyRedirects, .cancelled,
            .userAuthenticationRequired, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection, .fileDoesNotExist,
            .noPermissionsToReadFile, .fileIsDirectory:
            false
        default: true
        }
    }
}

/// An error of Foundation's file system, such as that the file of an upload cannot be read. Another attempt does not change it.
extension CocoaError: TransportFailure {
    var isRetryable: Bool { false }
}

extension UploadStreamConsumed: TransportFailure {
    var isRetryable: Bool { false }
}

/// The error of an upload whose length is not the given one. Another attempt does not change it.
extension UploadReader.Mismatch: TransportFailure {
    var isRetryable: Bool { false }
}

/// The errors that the client itself creates: another attempt does not change an invalid request or a body over the limit.
extension HTTPError: TransportFailure {
    var isRetryable: Bool {
        switch reason {
        case .request, .bodyTooLarge: false
        case .transport: underlyingError.map(TaskControlHTTP.isRetryable) ?? true
        default: true
        }
    }
}

/// Returns whether a transport could not make a connection that it could trust, so that it has sent nothing. `false` if that is not certain.
///
/// A transport that reports the part of the body that it has sent (``HTTPTransportRequest/didSend``) must not have reported any: Foundation on
/// Linux reports a refused connection also when another address of the host had accepted one, and broke it off.
package func isRefusedConnection(_ error: any Error) -> Bool {
    if let error = error as? URLError { return error.isRefusedConnection }
    return (error as? any RefusedConnection)?.isRefusedConnection ?? false
}

/// An error of a transport that states whether no connection could be made.
protocol RefusedConnection: Error {
    var isRefusedConnection: Bool { get }
}

extension URLError: RefusedConnection {
    var isRefusedConnection: Bool {
        switch code {
        case .badURL, .unsupportedURL, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed,
            .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRequired,
            .appTransportSecurityRequiresSecureConnection:
            true
        default: false
        }
    }
}
