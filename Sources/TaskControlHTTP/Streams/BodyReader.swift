internal import Foundation

/// A reader of a response's body. Its first bytes can be read in advance with ``peek(_:)``; ``next()`` returns them
/// again.
final class BodyReader {
    private var iterator: HTTPResponseBody.AsyncIterator
    private var peeked = PartBuffer<Data>()
    private let progress: ProgressReporter.Transfer?

    init(_ body: HTTPResponseBody, _ progress: ProgressReporter.Transfer?) {
        iterator = body.makeAsyncIterator()
        self.progress = progress
    }

    /// Returns the next part of the body; `nil` after the last one.
    ///
    /// - Throws: `CancellationError` and `TimeoutError`, unchanged. Any other error of the body is wrapped in an ``EndpointError`` with the
    ///   reason ``EndpointError/Reason/transport``.
    func next() async throws -> Data? {
        if let chunk = peeked.removeFirst() { return chunk }
        return try await read()
    }

    /// Waits for the first bytes of the body, and returns them without consuming them: ``next()`` returns them again.
    ///
    /// - Parameter limit: The largest number of bytes to return. Fewer are returned only if the body ends earlier.
    /// - Throws: The same errors as ``next()``.
    func peek(_ limit: Int) async throws -> Data {
        var data = Data()
        while data.count < limit, let chunk = try await read() {
            peeked.append(chunk, bytes: chunk.count)
            data.append(chunk.prefix(limit - data.count))
        }
        return data
    }

    private func read() async throws -> Data? {
        do {
            let chunk = try await iterator.next()
            if let chunk { progress?.didReceive(chunk.count) }
            return chunk
        } catch {
            throw error is CancellationError || error.isOfLimit
                ? error : EndpointError(.transport, underlyingError: error)
        }
    }
}
