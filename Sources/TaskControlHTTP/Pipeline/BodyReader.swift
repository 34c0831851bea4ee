/// A body whose first bytes can be read twice.
final class BodyReader {
    private var iterator: HTTPResponseBody.AsyncIterator
    private var peeked: [Data] = []
    private let progress: ProgressReporter.Transfer?

    init(_ body: HTTPResponseBody, _ progress: ProgressReporter.Transfer?) {
        iterator = body.makeAsyncIterator()
        self.progress = progress
    }

    /// Returns the next part; `nil` after the last one.
    ///
    /// - Throws: ``HTTPError`` with the reason ``HTTPError/Reason/transport`` if the body breaks off: receivers mostly
    ///   throw it on. A `CancellationError` stays as it is.
    func next() async throws -> Data? {
        if !peeked.isEmpty { return peeked.removeFirst() }
        return try await read()
    }

    /// Returns the first bytes, at most the given number, after waiting for them. They can be read again.
    func peek(_ limit: Int) async throws -> Data {
        var data = Data()
        while data.count < limit, let chunk = try await read() {
            peeked.append(chunk)
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
            throw error is CancellationError ? error : HTTPError(.transport, underlyingError: error)
        }
    }
}
