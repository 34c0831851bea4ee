internal import Foundation

/// The reader of the server-sent events of a response (WHATWG HTML, 9.2).
struct EventReader {
    private var lines: ByteLines
    private var machine: EventStreamStateMachine
    /// The `Content-Type` of the response, which is checked before the first event; `nil` if it has been checked or if the response has none.
    private var contentType: String?
    private let limit: Int?
    private let onResumption: ((_ id: String?, _ retry: Duration?) -> Void)?
    private var isAtEnd = false

    init(
        _ body: HTTPResponseBody,
        contentType: String?,
        limit: Int?,
        onResumption: ((_ id: String?, _ retry: Duration?) -> Void)?
    ) {
        lines = ByteLines(body, limit: limit)
        machine = EventStreamStateMachine(limit: limit)
        self.contentType = contentType
        self.limit = limit
        self.onResumption = onResumption
    }

    /// Returns the next event; `nil` after the last one.
    mutating func next() async throws -> ServerSentEvent? {
        if isAtEnd { return nil }
        // Remains `true` if this function throws, so that the iteration ends.
        isAtEnd = true
        try checkType()
        while let line = try await lines.next() {
            do {
                let former = machine.resumption
                let event = try machine.receive(line)
                let resumption = machine.resumption
                if resumption != former { onResumption?(resumption.id, resumption.retry) }
                guard let event else { continue }
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
        let mediaType = HeaderField.mediaType(contentType)
        guard mediaType == "text/event-stream" else {
            let shown = Redaction.withoutCredentials(in: String(mediaType.prefix(100)))
            throw EndpointError(.content, detail: "the response is not an event stream: its type is \(shown)")
        }
    }
}
