/// An error of a transport that knows whether another attempt may succeed. Every other error of a transport may pass.
protocol TransportFailure: Error {
    /// Whether the cause may be gone when the request is sent again.
    var mayPass: Bool { get }
}

extension URLError: TransportFailure {
    var mayPass: Bool {
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

/// A file that is sent cannot be read.
extension CocoaError: TransportFailure {
    var mayPass: Bool { false }
}

extension UploadStreamConsumed: TransportFailure {
    var mayPass: Bool { false }
}

/// The length that the caller gave is wrong.
extension UploadReader.Mismatch: TransportFailure {
    var mayPass: Bool { false }
}

/// Of the client's own making: what it cannot send, and what is larger than it may collect, is the same next time.
extension HTTPError: TransportFailure {
    var mayPass: Bool { reason != .request && reason != .bodyTooLarge }
}
