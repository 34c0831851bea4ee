#if AsyncHTTPClient
internal import NIOCore

/// What an upload sends, as the client asks for it: part by part, each when the one before is on its way.
struct UploadParts: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    /// Of a part, in bytes.
    static let size = 1 << 16

    private let reader: UploadReader
    private let exchange: ClientExchange

    init(_ reader: UploadReader, _ exchange: ClientExchange) {
        self.reader = reader
        self.exchange = exchange
    }

    /// Called once by the client, since each time that the body is sent is an exchange of its own.
    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader, exchange: exchange) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let reader: UploadReader
        let exchange: ClientExchange
        /// Reading blocks: not on a thread of the pool that all tasks share, and not on an event loop.
        private let thread = DispatchQueue(label: "TaskControlHTTP.UploadParts")

        init(reader: UploadReader, exchange: ClientExchange) {
            self.reader = reader
            self.exchange = exchange
        }

        mutating func next() async throws -> ByteBuffer? {
            exchange.didSend(reader.sent, of: reader.length)
            let reader = reader
            let part = try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<ByteBuffer, any Error>) in
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
    }
}
#endif
