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
        // The two sides do not agree, on a certificate in most cases. A server that closes the connection has said
        // nothing of that kind.
        case .handshakeFailed(.sslError(let stack)): stack.contains(.eofDuringHandshake)
        case .noCertificateToValidate, .unableToValidateCertificate, .failedToLoadCertificate, .failedToLoadPrivateKey,
            .noSuchFilesystemObject, .cannotMatchULabel:
            false
        default: true
        }
    }
}

/// The certificate is of another name, or the name can be of no certificate.
extension NIOSSLExtraError: TransportFailure {
    var isRetryable: Bool { false }
}

#if canImport(Network)
extension HTTPClient.NWTLSError: TransportFailure {
    /// Only if the server has closed the connection: `errSSLClosedAbort`, `errSSLClosedNoNotify`.
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

/// The only address of the host, which the URL names, has refused the connection. (Of an address that was found by name, NIO tells a
/// `NIOConnectionError`.)
extension IOError: RefusedConnection {
    var isRefusedConnection: Bool { errnoCode == ECONNREFUSED }
}

/// No address of the host has accepted a connection, or the host has no address.
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
