#if canImport(FoundationNetworking)
internal import Foundation

/// The body of an upload, as a stream that Foundation on Linux reads on the session's work queue.
final class ReaderStream: InputStream {
    private let reader: UploadReader
    private weak let exchange: SessionExchange?
    private var status = Stream.Status.notOpen

    init(_ reader: UploadReader, _ exchange: SessionExchange) {
        self.reader = reader
        self.exchange = exchange
        super.init(data: Data())
    }

    override func open() { status = .open }

    override func close() { status = .closed }

    override var streamStatus: Stream.Status { status }

    override var streamError: (any Error)? { nil }

    /// Always `true`. Foundation treats `false` as the end of the stream, even if the stream has failed or is slow, and
    /// would send an incomplete body as a complete one.
    override var hasBytesAvailable: Bool { true }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard let exchange, exchange.isOpen else { return -1 }
        do {
            let count = try reader.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: maxLength))
            if count > 0 { exchange.didSend(reader.sent, of: reader.length) }
            return count
        } catch {
            exchange.fail(error)
            return -1
        }
    }
}
#endif
