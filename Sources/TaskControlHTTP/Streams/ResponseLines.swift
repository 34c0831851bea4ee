/// The lines of a response, as they arrive.
///
/// A line ends with LF, CR or CRLF, which is removed. Empty lines are included. The last line may end without a line
/// break. The text is read as UTF-8, and invalid bytes are replaced with U+FFFD.
///
/// ## Cancellation
/// A reader that is cancelled while it waits receives an error, as for ``HTTPResponseBody``.
public struct ResponseLines: AsyncSequence {
    /// The type of the elements: a line.
    public typealias Element = String
    /// The type of the errors: see ``ResponseLines/AsyncIterator/next()``.
    public typealias Failure = any Error

    let body: HTTPResponseBody
    let limit: Int?

    /// Creates an iterator, which reads the body. The body can be read once.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(bytes: ByteLines(body, limit: limit))
    }

    /// The iterator over the lines of a response.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var bytes: ByteLines

        /// Returns the next line; `nil` after the last one.
        ///
        /// - Throws: The errors of ``HTTPResponseBody/AsyncIterator/next()``; ``EndpointError`` with the reason
        ///   ``EndpointError/Reason/bodyTooLarge`` for a line that is longer than the limit of
        ///   ``HTTPTransportResponse/lines(limit:)``.
        public mutating func next() async throws -> String? {
            try await bytes.next().map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

/// The iterator over the lines of a body as bytes, without their line breaks.
struct ByteLines {
    private var body: HTTPResponseBody.AsyncIterator
    private var machine: LineStateMachine
    private var ready: ArraySlice<[UInt8]> = []
    private var isAtEnd = false
    private let limit: Int?

    init(_ body: HTTPResponseBody, limit: Int?) {
        self.body = body.makeAsyncIterator()
        self.limit = limit
        machine = LineStateMachine(limit: limit)
    }

    mutating func next() async throws -> [UInt8]? {
        while true {
            if let line = ready.popFirst() { return line }
            if isAtEnd { return nil }
            // Remains `true` if this function throws, so that the iteration ends.
            isAtEnd = true
            // The lines before the one that is too long have been returned by now.
            if machine.isTooLong { throw EndpointError.streamTooLarge("a line", limit ?? 0) }
            guard let chunk = try await body.next() else { return machine.finish() }
            do {
                ready = try machine.receive(chunk)[...]
            } catch {
                throw EndpointError.streamTooLarge("a line", limit ?? 0)
            }
            isAtEnd = false
        }
    }
}

extension EndpointError {
    static func streamTooLarge(_ part: String, _ limit: Int) -> EndpointError {
        EndpointError(
            .bodyTooLarge,
            detail:
                "\(part) of the response is longer than \(limit) bytes: give lines(limit:) or events(limit:) a larger limit"
        )
    }
}
