#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// A channel handler that handles two events of an HTTP/1 connection that AsyncHTTPClient (1.37) does not handle.
///
/// - A server answers with a status below 100. The client treats every status below 200 as provisional, and expects
///   another head. NIO treats a status below 100 as final, and reports the end of the response, at which the client
///   traps: "How can we receive a response end, if we haven't a received a head." So this handler reports an error, and
///   closes the connection.
/// - A connection ends before the response. The client does not report whether the connection was new, or kept from an
///   earlier request. A server that closes an idle kept connection has not seen the request; a server that closes a new
///   connection has seen the request or refuses it. So this handler replaces the error by ``UnansweredConnection``.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    private var madeAt = NIODeadline.now()
    private var isKept = false
    private var isAnswered = true

    /// The largest age of a new connection at its first request. An older connection counts as kept: it was made for
    /// another request.
    private static var freshness: TimeAmount { .seconds(1) }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head = unwrapOutboundIn(data) {
            isKept = isKept || NIODeadline.now() - madeAt > Self.freshness
            isAnswered = false
        }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            if head.status.code >= 200 {
                isAnswered = true
                isKept = true
            }
            if head.status.code < 100 {
                context.fireErrorCaught(HTTPParserError.invalidStatus)
                return context.close(promise: nil)
            }
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(!isAnswered && error.isClosedConnection ? unanswered(error) : error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isAnswered { context.fireErrorCaught(unanswered(HTTPClientError.remoteConnectionClosed)) }
        context.fireChannelInactive()
    }

    private func unanswered(_ cause: any Error) -> UnansweredConnection {
        UnansweredConnection(wasKept: isKept, cause: cause)
    }

    /// Changes a configuration so that every HTTP/1 connection of its client has a guard. The
    /// `http1_1ConnectionDebugInitializer` that the configuration had is called after the guard has been added.
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
#endif
