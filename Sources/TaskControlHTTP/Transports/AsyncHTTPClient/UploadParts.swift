#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import Dispatch
internal import Foundation
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1
internal import TaskControl

/// The parts of an upload body, which the client requests one after another while it sends them.
struct UploadParts: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    /// The largest size of a part, in bytes.
    static let size = 1 << 16

    /// The number of bytes that may be read from the body before the event loops of the client have processed the parts
    /// that were read earlier.
    private static let lead: Int64 = 1 << 20

    private let reader: UploadReader
    private let exchange: ClientExchange
    private let loops: any EventLoopGroup

    init(_ reader: UploadReader, _ exchange: ClientExchange, _ loops: any EventLoopGroup) {
        self.reader = reader
        self.exchange = exchange
        self.loops = loops
    }

    /// Creates the iterator. Called once by the client: to send the body again, the transport makes another exchange.
    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader, exchange: exchange, loops: loops) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let reader: UploadReader
        let exchange: ClientExchange
        let loops: any EventLoopGroup
        private var met: Int64 = 0
        /// The queue on which the body is read. Reading blocks, so it uses neither a thread of Swift concurrency nor an event loop.
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

        /// Waits until the event loops have processed what they were given, if reading is too far ahead of them.
        ///
        /// The client requests parts until its event loop has noticed that it can send no more. Until then parts accumulate in memory, and a quick
        /// reader would read the whole body. Which event loop sends the request is not known here, so this function waits for all of them.
        private mutating func meetLoops() async throws {
            guard reader.sent - met >= UploadParts.lead else { return }
            met = reader.sent
            for loop in loops.makeIterator() { try await loop.submit {}.get() }
        }
    }
}
#endif
