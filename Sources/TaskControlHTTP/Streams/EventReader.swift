internal import Foundation

/// The reader of the server-sent events of a response (WHATWG HTML, 9.2).
struct EventReader {
    private var lines: ByteLines
    private var machine: EventStreamStateMachine
    /// The `Content-Type` of the response, which is checked before the first event; `nil` if it has been checked or if the response has none.
    private var contentType: String?
    private let limit: Int?
    private var isAtEnd = false

    init(_ body: HTTPResponseBody, contentType: String?, limit: Int?) {
        lines = ByteLines(body, limit: limit)
        machine = EventStreamStateMachine(limit: limit)
        self.contentType = contentType
        self.limit = limit
    }

    /// Returns the next event; `nil` after the last one.
    mutating func next() async throws -> ServerSentEvent? {
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
