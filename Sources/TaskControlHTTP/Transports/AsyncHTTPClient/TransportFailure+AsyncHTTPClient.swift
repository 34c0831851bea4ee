#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

extension HTTPClientError: TransportFailure {
    var isRetryable: Bool {
        switch self {
        case .readTimeout, .writeTimeout, .connectTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
            .tlsHandshakeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout, .remoteConnectionClosed,
            .uncleanShutdown, .invalidProxyResponse, .requestStreamCancelled:
            true
        // The other errors are mistakes in the request or in the configuration: a scheme, a header, a length.
        default: false
        }
    }
}

extension NIOSSLError: TransportFailure {
    var isRetryable: Bool {
        switch self {
        // The two sides could not agree, in most cases about a certificate. If the server closed the connection in the
        // handshake, another attempt may succeed.
        case .handshakeFailed(.sslError(let stack)): stack.contains(.eofDuringHandshake)
        case .noCertificateToValidate, .unableToValidateCertificate, .failedToLoadCertificate, .failedToLoadPrivateKey,
            .noSuchFilesystemObject, .cannotMatchULabel:
            false
        default: true
        }
    }
}

/// A failed check of a certificate's name, which another attempt does not change.
extension NIOSSLExtraError: TransportFailure {
    var isRetryable: Bool { false }
}

#if canImport(Network)
extension HTTPClient.NWTLSError: TransportFailure {
    /// Whether the server has closed the connection (`errSSLClosedAbort`, `errSSLClosedNoNotify`), so that another attempt may succeed.
    var isRetryable: Bool { status == -9806 || status == -9816 }
}
#endif

extension HTTPClientError: RefusedConnection {
    var isRefusedConnection: Bool {
        switch self {
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout: true
        default: false
        }
    }
}

/// The error of a connection to a host that is given as an address: `ECONNREFUSED` means that the server has refused it. (For a host that is given by
/// name, NIO throws a `NIOConnectionError`.)
extension IOError: RefusedConnection {
    var isRefusedConnection: Bool { errnoCode == ECONNREFUSED }
}

/// The error of a connection to a host that is given by name: no address of the host has accepted a connection, or the host has no address.
extension NIOConnectionError: RefusedConnection {
    var isRefusedConnection: Bool { true }
}

extension NIOSSLError: RefusedConnection {
    var isRefusedConnection: Bool {
        if case .handshakeFailed = self { true } else { false }
    }
}

extension NIOSSLExtraError: RefusedConnection {
    var isRefusedConnection: Bool { self == .failedToValidateHostname }
}
#endif
