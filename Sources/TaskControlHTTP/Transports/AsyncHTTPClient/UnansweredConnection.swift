#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOSSL

/// A connection ended before the response to a request.
struct UnansweredConnection: Error {
    /// Whether it had been open for other requests, or for some time.
    let wasKept: Bool
    let cause: any Error
}

extension Error {
    /// Whether the client found out that a connection was closed before it had written anything of the request.
    var isClosedBeforeWriting: Bool {
        switch self {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as ChannelError: error == .ioOnClosedChannel || error == .alreadyClosed
        default: false
        }
    }

    /// Whether the server, or a proxy, has ended the connection.
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
