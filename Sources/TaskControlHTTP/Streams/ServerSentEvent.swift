/// An event of an event stream (`text/event-stream`).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event: `message` if the server names none.
    public var type: String

    /// The data; its lines are separated by `\n`.
    public var data: String

    /// The last ID that the server has sent. A client that connects again sends it as `Last-Event-ID`, and the server
    /// continues after it. `nil` if there was none.
    public var id: String?

    /// The delay before a client connects again, as the server has last requested it; `nil` if the server has requested
    /// none.
    public var retry: Duration?

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - type: The type of the event.
    ///   - data: The data.
    ///   - id: The last ID that the server has sent.
    ///   - retry: The delay before a client connects again.
    public init(type: String = "message", data: String, id: String? = nil, retry: Duration? = nil) {
        self.type = type
        self.data = data
        self.id = id
        self.retry = retry
    }
}
