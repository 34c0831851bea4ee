#if AsyncHTTPClient
internal import NIOCore

/// The parts of an upload, as the client asks for them: part by part, each when the one before is on its way.
struct UploadParts: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    /// Of a part, in bytes.
    static let size = 1 << 16

    /// The number of bytes that reading may be ahead of the event loops.
    private static let lead: Int64 = 1 << 20

    private let reader: UploadReader
    private let exchange: ClientExchange
    private let loops: any EventLoopGroup

    init(_ reader: UploadReader, _ exchange: ClientExchange, _ loops: any EventLoopGroup) {
        self.reader = reader
        self.exchange = exchange
        self.loops = loops
    }

    /// Called once by the client, since each time that the body is sent is an exchange of its own.
    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader, exchange: exchange, loops: loops) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let reader: UploadReader
        let exchange: ClientExchange
        let loops: any EventLoopGroup
        private var met: Int64 = 0
        /// Reading blocks: not on a thread of the pool that all tasks share, and not on an event loop.
        private let thread = DispatchQueue(label: "TaskControlHTTP.UploadParts")

        init(reader: UploadReader, exchange: ClientExchange, loops: any EventLoopGroup) {
            self.reader = reader
            self.exchange = exchange
            self.loops = loops
        }

        mutating func next() async throws -> ByteBuffer? {
            exchange.didSend(reader.sent, of: reader.length)
            try await meetLoops()
            let reader = reader
            let part = try await withUnsafeThrowingContinuation {
                (continuation: UnsafeContinuation<ByteBuffer, any Error>) in
                thread.async {
                    continuation.resume(
                        with: Result {
                            var buffer = ByteBufferAllocator().buffer(capacity: UploadParts.size)
                            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: UploadParts.size) {
                                try reader.read(into: $0)
                            }
                            return buffer
                        }
                    )
                }
            }
            return part.readableBytes > 0 ? part : nil
        }

        /// The client says that it can take no more when its event loop has found that out; until then what it is given queues up before
        /// the loop, and a quick reader gives it all. Which loop that is, it does not say.
        private mutating func meetLoops() async throws {
            guard reader.sent - met >= UploadParts.lead else { return }
            met = reader.sent
            for loop in loops.makeIterator() { try await loop.submit {}.get() }
        }
    }
}
#endif
