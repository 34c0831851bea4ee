internal import Foundation

/// A server-sent event: an event of a response with the type `text/event-stream`.
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event: `message` if the server names none.
    public var type: String

    /// The data; its lines are separated by `\n`.
    public var data: String

    /// The last ID that the server has sent, with this event or with an earlier one; `nil` if it has sent none. A
    /// client that connects again sends this ID in the header `Last-Event-ID`, so that the server continues with the
    /// events after it.
    public var id: String?

    /// The delay before a client connects again, as the server has last requested it; `nil` if the server has requested
    /// no delay.
    public var retry: Duration?

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - type: The type of the event.
    ///   - data: The data.
    ///   - id: The last ID that the server has sent; `nil` if it has sent none.
    ///   - retry: The delay before a client connects again; `nil` if the server has requested no delay.
    public init(type: String = "message", data: String, id: String? = nil, retry: Duration? = nil) {
        self.type = type
        self.data = data
        self.id = id
        self.retry = retry
    }
}
