internal import Foundation

/// The elements of a response's body, as they arrive: lines (``HTTPTransportResponse/lines``), or server-sent events
/// (``HTTPTransportResponse/events``).
///
/// ## Cancellation
/// A reader that is cancelled while it waits receives an error, as for ``HTTPResponseBody``.
public struct ResponseStream<Element>: AsyncSequence {
    /// The type of the errors: see ``AsyncIterator/next()``.
    public typealias Failure = any Error

    private let start: () -> () async throws -> Element?

    /// - Parameter start: Begins to read the body, and returns a closure that returns the next element; `nil` after the last one.
    init(_ start: @escaping () -> () async throws -> Element?) { self.start = start }

    /// Creates an iterator, which reads the body. The body can be read once.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(read: start()) }

    /// The iterator over the elements of a response.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let read: () async throws -> Element?

        /// Returns the next element; `nil` after the last one.
        ///
        /// - Throws: The errors of ``HTTPResponseBody/AsyncIterator/next()``; ``EndpointError`` with the reason
        ///   ``EndpointError/Reason/bodyTooLarge`` for a line, or the data of an event, that is longer than the limit, and with
        ///   ``EndpointError/Reason/content`` for events of a response whose `Content-Type` is not `text/event-stream`.
        public mutating func next() async throws -> Element? { try await read() }
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
                "\(part) of the response is longer than \(limit) bytes: give lines(maxBytes:) or events(maxBytes:) a larger limit"
        )
    }
}
