/// A reader of a response's body that can return the first bytes a second time.
final class BodyReader {
    private var iterator: HTTPResponseBody.AsyncIterator
    private var peeked: [Data] = []
    private let progress: ProgressReporter.Transfer?

    init(_ body: HTTPResponseBody, _ progress: ProgressReporter.Transfer?) {
        iterator = body.makeAsyncIterator()
        self.progress = progress
    }

    /// Returns the next part of the body; `nil` after the last one.
    ///
    /// - Throws: ``HTTPError`` with the reason ``HTTPError/Reason/transport`` if the body breaks off, since most readers
    ///   pass the error on to their caller. A `CancellationError` is thrown unchanged.
    func next() async throws -> Data? {
        if !peeked.isEmpty { return peeked.removeFirst() }
        return try await read()
    }

    /// Waits for the first bytes of the body, at most the given number, and returns them. `next()` returns them again.
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
