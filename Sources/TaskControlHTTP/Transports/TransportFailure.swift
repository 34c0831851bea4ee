public import Foundation

/// An error of a transport that states whether another attempt can succeed. A transport error of any other type is not
/// known to be transient: after such an error, another attempt is assumed to fail in the same way.
protocol TransportFailure: Error {
    /// Whether the request can succeed if it is sent again.
    var isRetryable: Bool { get }

    /// Whether the request was not sent because all connections of the transport to the server were in use. By default
    /// `false`.
    var isWaitForConnection: Bool { get }
}

extension TransportFailure {
    var isWaitForConnection: Bool { false }
}

/// Returns whether a request can succeed if it is sent again after `error`, an error of a transport. Must not be asked about an error of the client's
/// own code, which can have any of these types: see ``Attempt/Stage`` and ``UploadFault``.
func isRetryable(_ error: any Error) -> Bool {
    // Apple's URLSession throws an NSError, which a cast bridges to a type and not to a protocol.
    if let error = error as? URLError { return error.isRetryable }
    if let error = error as? CocoaError { return error.isRetryable }
    if let error = error as? POSIXError { return error.isRetryable }
    #if AsyncHTTPClient
    if error.isOfHTTP2 { return true }
    #endif
    return (error as? any TransportFailure)?.isRetryable ?? false
}

extension URLError: TransportFailure {
    var isRetryable: Bool {
        switch code {
        case .badURL, .unsupportedURL, .redirectToNonExistentLocation, .httpTooManyRedirects, .cancelled,
            .userAuthenticationRequired, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection, .fileDoesNotExist,
            .noPermissionsToReadFile, .fileIsDirectory, .cannotDecodeRawData, .cannotDecodeContentData:
            false
        default: true
        }
    }
}

/// An error of a system call of the network, such as `ECONNABORTED`, which Apple's `URLSession` passes on.
extension POSIXError: TransportFailure {
    var isRetryable: Bool { true }
}

/// The error of an attempt that has reached its time limit.
extension TimeoutError: TransportFailure {
    var isRetryable: Bool { true }
}

/// An error of Foundation's file functions. Another attempt does not change it.
extension CocoaError: TransportFailure {
    var isRetryable: Bool { false }
}

extension UploadStreamConsumed: TransportFailure {
    var isRetryable: Bool { false }
}

/// The error of an upload whose body is longer or shorter than its announced length. Another attempt does not change
/// this.
extension UploadReader.Mismatch: TransportFailure {
    var isRetryable: Bool { false }
}

/// The errors that the client itself creates: another attempt does not change an invalid request or a body over the limit.
extension EndpointError: TransportFailure {
    var isRetryable: Bool {
        switch reason {
        case .request, .bodyTooLarge: false
        case .transport: !isOfUpload && underlyingError.map(TaskControlHTTP.isRetryable) ?? true
        default: true
        }
    }

    var isWaitForConnection: Bool { underlyingError.map(TaskControlHTTP.isWaitForConnection) ?? false }
}

/// Returns whether an error of a transport means that all of its connections to the server were in use. This is not a
/// failure of the server.
func isWaitForConnection(_ error: any Error) -> Bool {
    (error as? any TransportFailure)?.isWaitForConnection ?? false
}

/// Returns whether an error of a transport means that the transport could not open a trusted connection, and so has
/// sent nothing; `false` if that is not certain.
///
/// For a request with a body, the caller must also check that ``HTTPTransportRequest/didSend`` has reported no sent
/// bytes: Foundation on Linux reports a refused connection also if another address of the host had accepted a
/// connection and then closed it.
package func isRefusedConnection(_ error: any Error) -> Bool {
    if let error = error as? URLError { return error.isRefusedConnection }
    return (error as? any RefusedConnection)?.isRefusedConnection ?? false
}

/// An error of a transport that states whether the transport could not open a trusted connection, and so has sent
/// nothing.
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
