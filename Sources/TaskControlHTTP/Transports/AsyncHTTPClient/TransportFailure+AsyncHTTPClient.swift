#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOPosix
internal import NIOSSL

extension Error {
    /// Whether the error is one of the many types of an HTTP/2 connection, such as a stream that the server has reset.
    var isOfHTTP2: Bool { self is any NIOHTTP2Error }
}

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

    // The client reports `connectTimeout` if there are no connections because none could be made.
    var isWaitForConnection: Bool { self == .getConnectionFromPoolTimeout }
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

/// An error of TLS after the handshake.
extension BoringSSLError: TransportFailure {
    var isRetryable: Bool { true }
}

extension ChannelError: TransportFailure {
    var isRetryable: Bool { true }
}

/// A response that is not valid HTTP.
extension HTTPParserError: TransportFailure {
    var isRetryable: Bool { true }
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
extension IOError: TransportFailure, RefusedConnection {
    var isRetryable: Bool { true }

    var isRefusedConnection: Bool { errnoCode == ECONNREFUSED }
}

/// The error of a connection to a host that is given by name: no address of the host has accepted a connection, or the host has no address.
extension NIOConnectionError: TransportFailure, RefusedConnection {
    var isRetryable: Bool { true }

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
