internal import Foundation

/// A stream that can be read once: the first call of `take()` returns the stream, and later calls throw
/// ``UploadStreamConsumed``.
///
/// The type is Sendable because the stream is accessed only under the lock, until one caller has taken it.
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
