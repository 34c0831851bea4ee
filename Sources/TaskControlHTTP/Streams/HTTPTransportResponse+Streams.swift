internal import Foundation

extension HTTPTransportResponse {
    /// The lines of the body, as they arrive, at most 1 MiB each.
    ///
    /// ```swift
    /// try await client.withResponse(to: Export()) { response in
    ///     for try await line in response.lines { try add(JSONDecoder().decode(Row.self, from: Data(line.utf8))) }
    /// }
    /// ```
    ///
    /// At a longer line, the iteration throws ``EndpointError/Reason/bodyTooLarge``: a server that sends no line breaks
    /// cannot fill the memory.
    ///
    /// A line ends with LF, CR or CRLF, which is removed. Empty lines are included. The last line may end without a line
    /// break. The text is read as UTF-8, and invalid bytes are replaced with U+FFFD.
    public var lines: ResponseStream<String> { lines(limit: 1 << 20) }

    /// Returns the lines of the body, as they arrive.
    ///
    /// - Parameter limit: The length of the longest line, in bytes; `nil`: no limit. At a longer line, the iteration
    ///   throws ``EndpointError/Reason/bodyTooLarge``.
    public func lines(limit: Int?) -> ResponseStream<String> {
        ResponseStream { [body] in
            var lines = ByteLines(body, limit: limit)
            return { try await lines.next().map { String(decoding: $0, as: UTF8.self) } }
        }
    }

    /// The server-sent events of the body, as they arrive. A line, and the data of an event, can have at most 1 MiB.
    ///
    /// ```swift
    /// try await client.withResponse(to: Changes()) { response in
    ///     for try await event in response.events where event.type == "added" { add(event.data) }
    /// }
    /// ```
    ///
    /// At a longer line or longer data, the iteration throws ``EndpointError/Reason/bodyTooLarge``.
    ///
    /// If the connection breaks off, the iteration throws. If the server ends the body, the iteration ends without an
    /// error; an event that is incomplete by then is dropped, as the standard requires. There is no automatic reconnection:
    /// to continue, send another request, with the ``ServerSentEvent/id`` of the last event in the header `Last-Event-ID`.
    ///
    /// An open stream of events has one of the transport's connections to its host, which by default are 6 or 8: use a
    /// client with a transport of its own for streams.
    public var events: ResponseStream<ServerSentEvent> { events(limit: 1 << 20) }

    /// Returns the server-sent events of the body, as they arrive.
    ///
    /// - Parameter limit: The length of the longest line, and of the longest data of one event, in bytes; `nil`: no
    ///   limit. At a longer line or longer data, the iteration throws ``EndpointError/Reason/bodyTooLarge``.
    public func events(limit: Int?) -> ResponseStream<ServerSentEvent> {
        let contentType = head.singleValue("Content-Type")
        return ResponseStream { [body] in
            var events = EventReader(body, contentType: contentType, limit: limit)
            return { try await events.next() }
        }
    }
}
