#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

/// Ends a connection whose server answers with a status below 100.
///
/// AsyncHTTPClient (1.37) takes every status below 200 for a provisional one, which another follows. What follows a status below 100 is the
/// end, as for NIO it is an answer like others, and the client then traps: "How can we receive a response end, if we haven't a received a
/// head."
final class StatusGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
            context.fireErrorCaught(HTTPParserError.invalidStatus)
            return context.close(promise: nil)
        }
        context.fireChannelRead(data)
    }

    /// Puts one into every connection of HTTP/1, beside what the configuration has to say of them.
    static func install(in configuration: inout HTTPClient.Configuration) {
        let others = configuration.http1_1ConnectionDebugInitializer
        configuration.http1_1ConnectionDebugInitializer = { channel in
            let installed = channel.eventLoop.submit {
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                try pipeline.addHandler(StatusGuard(), position: .after(decoder))
            }
            return others.map { others in installed.flatMap { others(channel) } } ?? installed
        }
    }
}
#endif
