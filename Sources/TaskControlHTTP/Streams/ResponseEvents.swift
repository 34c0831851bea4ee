/// The server-sent events of a response, as they arrive (WHATWG HTML, 9.2).
///
/// If the connection breaks off, the iteration throws. If the server ends the body, the iteration ends without an
/// error; an event that is incomplete by then is dropped, as the standard requires. There is no automatic reconnection:
/// to continue, send another request, with the ``ServerSentEvent/id`` of the last event in the header `Last-Event-ID`.
///
/// ## Cancellation
/// A reader that is cancelled while it waits receives an error, as for ``HTTPResponseBody``.
public struct ResponseEvents: AsyncSequence {
    /// The type of the elements: an event.
    public typealias Element = ServerSentEvent
    /// The type of the errors: see ``ResponseEvents/AsyncIterator/next()``.
    public typealias Failure = any Error

    let body: HTTPResponseBody
    let contentType: String?
    let limit: Int?

    /// Creates an iterator, which reads the body. Must be called only once: a second iterator would not begin at the
    /// first event.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            lines: ByteLines(body, limit: limit),
            machine: EventStreamStateMachine(limit: limit),
            contentType: contentType,
            limit: limit
        )
    }

    /// The iterator over the events of a response.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var lines: ByteLines
        fileprivate var machine: EventStreamStateMachine
        /// The `Content-Type` of the response, which is checked before the first event; `nil` if it has been checked or if the response has none.
        fileprivate var contentType: String?
        fileprivate let limit: Int?
        private var isAtEnd = false

        fileprivate init(lines: ByteLines, machine: EventStreamStateMachine, contentType: String?, limit: Int?) {
            self.lines = lines
            self.machine = machine
            self.contentType = contentType
            self.limit = limit
        }

        /// Returns the next event; `nil` after the last one.
        ///
        /// - Throws: The errors of ``HTTPResponseBody/AsyncIterator/next()``; ``EndpointError`` with the reason
        ///   ``EndpointError/Reason/content`` for a response whose `Content-Type` is not `text/event-stream`, and with
        ///   ``EndpointError/Reason/bodyTooLarge`` for a line, or the data of an event, that is longer than the limit of
        ///   ``HTTPTransportResponse/events(limit:)``.
        public mutating func next() async throws -> ServerSentEvent? {
            if isAtEnd { return nil }
            // Remains `true` if this function throws, so that the iteration ends.
            isAtEnd = true
            try checkType()
            while let line = try await lines.next() {
                do {
                    guard let event = try machine.receive(line) else { continue }
                    isAtEnd = false
                    return event
                } catch {
                    throw EndpointError.streamTooLarge("an event", limit ?? 0)
                }
            }
            return nil
        }

        private mutating func checkType() throws {
            guard let contentType = contentType.take() else { return }
            let mediaType = contentType.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
            guard mediaType == "text/event-stream" else {
                let shown = Redaction.withoutCredentials(in: String(mediaType.prefix(100)))
                throw EndpointError(.content, detail: "the response is not an event stream: its type is \(shown)")
            }
        }
    }
}
