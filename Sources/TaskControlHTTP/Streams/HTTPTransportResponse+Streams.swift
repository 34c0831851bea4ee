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
    public var lines: ResponseStream<String> { lines(maxBytes: 1 << 20) }

    /// Returns the lines of the body, as they arrive.
    ///
    /// - Parameter maxBytes: The length of the longest line, in bytes; `nil`: no limit. At a longer line, the iteration
    ///   throws ``EndpointError/Reason/bodyTooLarge``.
    public func lines(maxBytes: Int?) -> ResponseStream<String> {
        ResponseStream { [body] in
            var lines = ByteLines(body, limit: maxBytes)
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
    /// ``events(maxBytes:onResumption:)`` also reports an ID that comes without an event.
    ///
    /// A server that is silent is noticed with ``ClientPolicies/silenceLimit``, for which its comments count.
    ///
    /// An open stream of events has one of the transport's connections to its host, which by default are 6 or 8: use a
    /// client with a transport of its own for streams.
    public var events: ResponseStream<ServerSentEvent> { events() }

    /// Returns the server-sent events of the body, as they arrive, and reports the values with which a client connects
    /// again.
    ///
    /// ```swift
    /// var last: (id: String?, retry: Duration?) = (nil, nil)
    /// try await client.withResponse(to: Changes()) { response in
    ///     for try await event in response.events(onResumption: { last = ($0, $1) }) { add(event.data) }
    /// }
    /// ```
    ///
    /// A server may send an ID or a delay without data, for example to mark a place that a client need not read again.
    /// Such a block is no event, but it counts when the client connects again.
    ///
    /// - Parameters:
    ///   - maxBytes: The length of the longest line, and of the longest data of one event, in bytes; `nil`: no limit. At a
    ///     longer line or longer data, the iteration throws ``EndpointError/Reason/bodyTooLarge``.
    ///   - onResumption: Called when one of its two values has changed, before the event that has changed it is
    ///     returned, in the isolation of the code that iterates. `id` is the last ID of a complete block, for the
    ///     header `Last-Event-ID`, and `retry` the delay before the client connects again; each is `nil` until the
    ///     server has sent one, and `id` also after an empty one.
    public func events(
        maxBytes: Int? = 1 << 20,
        onResumption: ((_ id: String?, _ retry: Duration?) -> Void)? = nil
    ) -> ResponseStream<ServerSentEvent> {
        let contentType = head.singleValue("Content-Type")
        return ResponseStream { [body] in
            var events = EventReader(body, contentType: contentType, limit: maxBytes, onResumption: onResumption)
            return { try await events.next() }
        }
    }
}
