#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import TaskControlHTTP

/// The guard of a connection of AsyncHTTPClient, without a network, on a loop whose time the test sets.
struct ConnectionGuardTests {
    private let loop = EmbeddedEventLoop()
    private let channel: EmbeddedChannel

    init() throws {
        channel = EmbeddedChannel(
            handler: ConnectionGuard(maxSilence: .seconds(60), decompresses: false),
            loop: loop
        )
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func send() throws {
        try channel.writeOutbound(
            HTTPClientRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"))
        )
        try channel.writeOutbound(HTTPClientRequestPart.end(nil))
    }

    /// Receives a part of the response. As the client does while the reader of the response pauses, does not read on.
    private func receive(_ part: HTTPClientResponsePart) throws {
        try channel.writeInbound(part)
        channel.pipeline.fireChannelReadComplete()
    }

    private func receiveHead() throws {
        try receive(.head(HTTPResponseHead(version: .http1_1, status: .ok)))
    }

    /// Lets time pass, and returns whether the server has then been silent for too long.
    private func isSilent(after time: TimeAmount) -> Bool {
        loop.advanceTime(by: time)
        do {
            try channel.throwIfErrorCaught()
            return false
        } catch {
            return error as? HTTPClientError == .readTimeout
        }
    }

    @Test func aServerThatDoesNotAnswerIsSilent() throws {
        channel.pipeline.read()
        try send()
        #expect(!isSilent(after: .seconds(59)))
        #expect(isSilent(after: .seconds(1)))
        #expect(!channel.isActive)
    }

    @Test func aServerIsNotSilentWhileTheReaderPauses() throws {
        channel.pipeline.read()
        try send()
        try receiveHead()
        #expect(!isSilent(after: .hours(1)))
        channel.pipeline.read()
        #expect(!isSilent(after: .seconds(59)))
        try receive(.body(ByteBuffer(string: "part")))
        #expect(!isSilent(after: .hours(1)))
        channel.pipeline.read()
        #expect(!isSilent(after: .seconds(59)))
        #expect(isSilent(after: .seconds(1)))
    }

    @Test func eachPartBeginsTheTimeAgain() throws {
        channel.pipeline.read()
        try send()
        #expect(!isSilent(after: .seconds(40)))
        try receiveHead()
        channel.pipeline.read()
        #expect(!isSilent(after: .seconds(40)))
        try receive(.body(ByteBuffer(string: "part")))
        channel.pipeline.read()
        #expect(!isSilent(after: .seconds(40)))
        #expect(isSilent(after: .seconds(20)))
    }

    @Test func aConnectionThatIsNotInUseMayBeSilent() throws {
        channel.pipeline.read()
        #expect(!isSilent(after: .hours(1)))
        try send()
        try receiveHead()
        try receive(.end(nil))
        channel.pipeline.read()
        #expect(!isSilent(after: .hours(1)))
        #expect(channel.isActive)
    }

    @Test func aServerThatHasAnsweredEarlyMayBeSilent() throws {
        channel.pipeline.read()
        try channel.writeOutbound(
            HTTPClientRequestPart.head(HTTPRequestHead(version: .http1_1, method: .PUT, uri: "/"))
        )
        try receiveHead()
        try receive(.end(nil))
        channel.pipeline.read()
        try channel.writeOutbound(HTTPClientRequestPart.end(nil))
        #expect(!isSilent(after: .hours(1)))
    }

    @Test func theTimeBeginsWithTheEndOfTheRequest() throws {
        channel.pipeline.read()
        try channel.writeOutbound(
            HTTPClientRequestPart.head(HTTPRequestHead(version: .http1_1, method: .PUT, uri: "/"))
        )
        #expect(!isSilent(after: .hours(1)))
        try channel.writeOutbound(HTTPClientRequestPart.end(nil))
        #expect(!isSilent(after: .seconds(59)))
        #expect(isSilent(after: .seconds(1)))
    }
}
#endif
