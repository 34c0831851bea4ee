/// An error of a transport that knows whether another attempt may succeed. Every other error of a transport may pass.
protocol TransportFailure: Error {
    /// Whether the cause may be gone when the request is sent again.
    var mayPass: Bool { get }
}

/// Whether an error of a transport may be gone when the request is sent again.
func mayPass(_ error: any Error) -> Bool {
    // Apple's URLSession throws an NSError, which a cast bridges to a type and not to a protocol.
    if let error = error as? URLError { return error.mayPass }
    if let error = error as? CocoaError { return error.mayPass }
    return (error as? any TransportFailure)?.mayPass ?? true
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
    var mayPass: Bool {
        switch reason {
        case .request, .bodyTooLarge: false
        case .transport: underlyingError.map(TaskControlHTTP.mayPass) ?? true
        default: true
        }
    }
}
