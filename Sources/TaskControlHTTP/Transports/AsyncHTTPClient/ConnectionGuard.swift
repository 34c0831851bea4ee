#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// Sees what a connection of HTTP/1 does, where AsyncHTTPClient (1.37) does not.
///
/// - A server that answers with a status below 100: the client takes every status below 200 for a provisional one, which another follows.
///   What follows a status below 100 is the end, as for NIO it is a final response, and the client then traps: "How can we receive a response
///   end, if we haven't a received a head." So the connection is ended.
/// - A connection that ends before the response to its first request: the client does not say whether a connection was new or kept. The
///   error becomes ``NewConnectionClosed``, so that every other connection that ends so is known to be one that was kept.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    private var requests = 0
    private var isAnswered = false

    private var isNew: Bool { requests == 1 && !isAnswered }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head = unwrapOutboundIn(data) { requests += 1 }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            if head.status.code >= 200 { isAnswered = true }
            if head.status.code < 100 {
                context.fireErrorCaught(HTTPParserError.invalidStatus)
                return context.close(promise: nil)
            }
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(isNew && error.isClosedConnection ? NewConnectionClosed(cause: error) : error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isNew { context.fireErrorCaught(NewConnectionClosed(cause: HTTPClientError.remoteConnectionClosed)) }
        context.fireChannelInactive()
    }

    /// Puts one into every connection of HTTP/1, before what the configuration itself does with them.
    static func install(in configuration: inout HTTPClient.Configuration) {
        let others = configuration.http1_1ConnectionDebugInitializer
        configuration.http1_1ConnectionDebugInitializer = { channel in
            let installed = channel.eventLoop.submit {
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                try pipeline.addHandler(ConnectionGuard(), position: .after(decoder))
            }
            return others.map { others in installed.flatMap { others(channel) } } ?? installed
        }
    }
}

/// A connection that was made for a request ended before the response.
struct NewConnectionClosed: Error {
    let cause: any Error
}

extension Error {
    /// Whether the server, or somebody between, has ended the connection.
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
