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
    public var lines: ResponseLines { lines(limit: 1 << 20) }

    /// Returns the lines of the body, as they arrive.
    ///
    /// - Parameter limit: The length of the longest line, in bytes; `nil`: no limit. At a longer line, the iteration
    ///   throws ``EndpointError/Reason/bodyTooLarge``.
    public func lines(limit: Int?) -> ResponseLines { ResponseLines(body: body, limit: limit) }

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
    /// An open stream of events has one of the transport's connections to its host, which by default are 6 or 8: use a
    /// client with a transport of its own for streams.
    public var events: ResponseEvents { events(limit: 1 << 20) }

    /// Returns the server-sent events of the body, as they arrive.
    ///
    /// - Parameter limit: The length of the longest line, and of the longest data of one event, in bytes; `nil`: no
    ///   limit. At a longer line or longer data, the iteration throws ``EndpointError/Reason/bodyTooLarge``.
    public func events(limit: Int?) -> ResponseEvents {
        ResponseEvents(body: body, contentType: head.singleValue("Content-Type"), limit: limit)
    }
}
