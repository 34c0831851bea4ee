#if AsyncHTTPClient

internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// A channel handler that handles events of an HTTP/1 connection that AsyncHTTPClient (1.37) does not handle.
///
/// - A server answers with a status below 100. The client treats every status below 200 as provisional, and expects
///   another head. NIO treats a status below 100 as final, and reports the end of the response, at which the client
///   traps: "How can we receive a response end, if we haven't a received a head." So this handler reports an error, and
///   closes the connection.
/// - A connection ends before the response. The client does not report whether the connection was new, or kept from an
///   earlier request. A server that closes an idle kept connection has not seen the request; a server that closes a new
///   connection has seen the request or refuses it. So this handler replaces the error by ``UnansweredConnection``.
/// - A server is silent. The client also counts the time in which the reader of the response pauses, and the client
///   therefore receives nothing. So this handler measures the time in which the client waits for bytes.
/// - A response has no content, but a content coding. The client's decompressor expects the end of compressed data. So
///   this handler removes the header, and gives `x-gzip` its usual name (RFC 9110, 8.4.1.3), which the client knows.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    private let madeAt = NIODeadline.now()
    private var isKept = false
    private var isAnswered = true

    /// The longest time for which the server may be silent; `nil` for no limit.
    private let maxSilence: TimeAmount?
    /// Whether the whole request has been sent.
    private var isSent = false
    /// Whether the whole response has arrived, which a server may send before it has received the whole request.
    private var isOver = true
    /// Whether the client reads from the connection. It does not while the reader of the response pauses.
    private var isReading = false
    /// The time since which the client has been waiting for bytes of a response; `nil` while it is not waiting.
    private var waitsSince: NIODeadline?
    private var timer: Scheduled<Void>?

    /// Whether the client decompresses the bodies of responses.
    private let decompresses: Bool
    /// Whether the method of the last request was HEAD.
    private var asksForHead = false

    init(maxSilence: TimeAmount?, decompresses: Bool) {
        self.maxSilence = maxSilence
        self.decompresses = decompresses
    }

    /// The largest age of a new connection at its first request. An older connection counts as kept: it was made for
    /// another request.
    private static var freshness: TimeAmount { .seconds(1) }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            isKept = isKept || NIODeadline.now() - madeAt > Self.freshness
            isAnswered = false
            asksForHead = head.method == .HEAD
            (isSent, isOver) = (false, false)
        case .body: break
        case .end:
            isSent = true
            measureSilence(context)
        }
        context.write(data, promise: promise)
    }

    func read(context: ChannelHandlerContext) {
        isReading = true
        measureSilence(context)
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        waitsSince = nil
        switch unwrapInboundIn(data) {
        case .head(var head):
            if head.status.code >= 200 {
                isAnswered = true
                isKept = true
            }
            if head.status.code < 100 {
                context.fireErrorCaught(HTTPParserError.invalidStatus)
                return context.close(promise: nil)
            }
            guard decompresses, head.headers.contains(name: "Content-Encoding") else { break }
            head.correctCoding(asksForHead: asksForHead)
            return context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body: break
        case .end: isOver = true
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        waitsSince = nil
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(!isAnswered && error.isClosedConnection ? unanswered(error) : error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isAnswered { context.fireErrorCaught(unanswered(HTTPClientError.remoteConnectionClosed)) }
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    /// Begins to wait for bytes of the response, if the client does so now and did not before.
    private func measureSilence(_ context: ChannelHandlerContext) {
        guard let maxSilence, isSent, !isOver, isReading, waitsSince == nil else { return }
        waitsSince = context.eventLoop.now
        if timer == nil { startTimer(context, for: maxSilence) }
    }

    private func startTimer(_ context: ChannelHandlerContext, for time: TimeAmount) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [self] in
            timer = nil
            // If nothing is waited for now, the next wait starts the timer.
            guard let maxSilence, let waitsSince else { return }
            let rest = waitsSince + maxSilence - context.eventLoop.now
            if rest > .zero { return startTimer(context, for: rest) }
            context.fireErrorCaught(HTTPClientError.readTimeout)
            context.close(promise: nil)
        }
    }

    private func unanswered(_ cause: any Error) -> UnansweredConnection {
        UnansweredConnection(wasKept: isKept, cause: cause)
    }

    /// Changes a configuration so that every HTTP/1 connection of its client has a guard. The
    /// `http1_1ConnectionDebugInitializer` that the configuration had is called after the guard has been added. If there
    /// is no HTTP/2, the guards apply `timeout.read` in place of the client.
    static func install(in configuration: inout HTTPClient.Configuration) {
        let maxSilence = configuration.httpVersion == .http1Only ? configuration.timeout.read.take() : nil
        let decompresses = if case .enabled = configuration.decompression { true } else { false }
        let others = configuration.http1_1ConnectionDebugInitializer
        configuration.http1_1ConnectionDebugInitializer = { channel in
            let installed = channel.eventLoop.submit {
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                try pipeline.addHandler(
                    ConnectionGuard(maxSilence: maxSilence, decompresses: decompresses),
                    position: .after(decoder)
                )
            }
            return others.map { others in installed.flatMap { others(channel) } } ?? installed
        }
    }
}

extension HTTPResponseHead {
    /// Changes the content coding of a response, so that a decompressor understands it: a response without content has
    /// none.
    fileprivate mutating func correctCoding(asksForHead: Bool) {
        let codings = headers[canonicalForm: "Content-Encoding"].map { $0.lowercased() }
        if asksForHead || status == .noContent || status == .notModified || headers["Content-Length"].first == "0" {
            headers.remove(name: "Content-Encoding")
        } else if codings == ["x-gzip"] {
            headers.replaceOrAdd(name: "Content-Encoding", value: "gzip")
        }
    }
}

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
