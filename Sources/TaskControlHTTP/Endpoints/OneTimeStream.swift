/// A stream that can be read once, handed to the first who asks.
///
/// Sendable: the stream is reached under the lock alone, and is its taker's from then on.
final class OneTimeStream: @unchecked Sendable {
    private let lock = NSLock()
    private var stream: InputStream?

    init(_ stream: sending InputStream) {
        self.stream = stream
    }

    func take() throws -> sending InputStream {
        lock.lock()
        defer { lock.unlock() }
        guard let stream = stream.take() else { throw UploadStreamConsumed() }
        return stream
    }
}
