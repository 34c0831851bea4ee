#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOSSL

/// The error of a connection that ended before the response to a request.
struct UnansweredConnection: Error {
    /// Whether the connection was used for an earlier request, or had been open for some time.
    let wasKept: Bool
    let cause: any Error
}

extension Error {
    /// Whether the connection was found closed before any part of the request was written, if the connection has a
    /// ``ConnectionGuard``.
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
