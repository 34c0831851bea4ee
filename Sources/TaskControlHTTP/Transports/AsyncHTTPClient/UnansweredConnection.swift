#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOSSL

/// The error of a connection that ended before the response to a request.
struct UnansweredConnection: Error {
    /// Whether the connection was used for an earlier request, or was more than one second old at its first request.
    let wasKept: Bool
    let cause: any Error
}

extension Error {
    /// Whether the error means that the connection was found closed before any part of the request was written. Only
    /// meaningful for a connection with a ``ConnectionGuard``, which reports a later end as ``UnansweredConnection``.
    var isClosedBeforeWriting: Bool {
        switch self {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as ChannelError: error == .ioOnClosedChannel || error == .alreadyClosed
        default: false
        }
    }

    /// Whether the error means that the server, or a proxy, has closed the connection.
    var isClosedConnection: Bool {
        switch self {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as IOError: [ECONNRESET, EPIPE, ENOTCONN].contains(error.errnoCode)
        case let error as NIOSSLError: error == .uncleanShutdown
        case let error as ChannelError: error == .ioOnClosedChannel || error == .alreadyClosed
        default: false
        }
    }
}
#endif
