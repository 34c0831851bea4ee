extension EndpointClient {
    /// Sends a request, and passes the response to a closure as it arrives.
    ///
    /// ```swift
    /// let lines = try await client.withResponse(to: ExportEndpoint()) { response in
    ///     var lines = 0
    ///     for try await chunk in response.body { lines += chunk.count { $0 == UInt8(ascii: "\n") } }
    ///     return lines
    /// }
    /// ```
    ///
    /// The endpoint creates the request, and validates the response before the closure is called; its
    /// `content(from:with:)` is not called.
    ///
    /// Until the call returns, the exchange has one of the connections of the transport, which by default has 6
    /// (``URLSessionTransport``) or 8 (`AsyncHTTPClientTransport`) connections to a host over HTTP/1. With as many
    /// responses open, every other request to the host waits, also one that the closure sends. For responses that stay
    /// open, such as server-sent events, use a client with a transport of its own, and a configuration that allows enough
    /// connections.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request and validates the response.
    ///   - receive: Called at most once, in the caller's isolation. When the closure returns or throws, the exchange
    ///     (the request and its response) ends, even if the body has not been read to its end. The closure is not
    ///     called for a response that the endpoint does not accept, or that a policy of the client treats as a failure:
    ///     a 401 that rejects the ``EndpointAuthenticator``'s credential, and, if the request is one that the retry policy
    ///     repeats, each of ``HTTPRetryPolicy/statuses``, also after the last attempt. After such a response, the
    ///     request is sent again, or the call throws an error.
    /// - Returns: The value of `receive`.
    /// - Throws: The same errors as ``request(_:onProgress:)``. An error that `receive` throws is treated like one that
    ///   the endpoint throws.
    public func withResponse<E: Endpoint, Value>(
        to endpoint: E,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try await EndpointCall(endpoint, pipeline).withResponse(onProgress: nil, receive)
    }

    /// Uploads a body, and passes the response to a closure as it arrives.
    ///
    /// The closure is called after the upload: no transport of this module returns a response before the whole body is
    /// sent.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request and validates the response; its `content(from:with:)` is not called.
    ///   - onProgress: Called when more bytes have been sent or received, one call after another, from any thread;
    ///     `nil` for no reports.
    ///   - receive: Called at most once, in the caller's isolation. When the closure returns or throws, the exchange
    ///     (the request and its response) ends, even if the body of the response has not been read to its end. The
    ///     closure is not called for a response that the endpoint does not accept, or that a policy of the client
    ///     treats as a failure: a 401 that rejects the ``EndpointAuthenticator``'s credential, and, if the request is one that
    ///     the retry policy repeats, each of ``HTTPRetryPolicy/statuses``, also after the last attempt. After such a
    ///     response, the request is sent again, or the call throws an error.
    /// - Returns: The value of `receive`.
    /// - Throws: The same errors as ``upload(_:onProgress:)``. An error that `receive` throws is treated like one that
    ///   the endpoint throws.
    public func withResponse<E: UploadEndpoint, Value>(
        to endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try await EndpointCall(endpoint, pipeline).withResponse(onProgress: onProgress, receive)
    }

    /// Sends a request, and writes the body of its response to a file, as it arrives.
    ///
    /// The target (`file`), unless it is a device or a pipe, appears or is replaced when the body is complete. An
    /// existing regular file is replaced in one step, and the new file has its permissions. If `file` is a symbolic
    /// link, the target is the file to which the link points, and the link stays.
    ///
    /// Without `resuming:`, the body is written to a hidden file in the folder of the target until it is complete. If
    /// the call fails, the hidden file is removed. If the process is killed, the hidden file stays, and nothing removes
    /// it later; its name begins with `.taskcontrol-` and ends in `.part`. A device or a pipe as the target is an
    /// exception: the body is written to it directly, as it arrives. Writing to a pipe blocks the caller's thread while
    /// no process reads from the pipe.
    ///
    /// With `resuming:`, the body is written to ``DownloadResumption/partialFile`` until it is complete. If the call
    /// fails, this file stays if a later call can continue the body, and is removed otherwise. If the target is a
    /// device or a pipe, the call fails.
    ///
    /// ## Resuming
    /// A connection that breaks off in the middle of the body is an error of the transport, after which
    /// ``ClientPolicies/retry`` can allow another attempt. This attempt requests only the rest of the body, if the
    /// received part can be continued; otherwise, it requests the whole body. ``DownloadResumption`` describes the
    /// conditions under which a part can be continued, and also keeps the part for a later call.
    ///
    /// A compressed body cannot be continued. So a request for the rest of a body asks the server not to compress it
    /// (`Accept-Encoding: identity`). With `resuming:`, a request for the whole body does so too, unless the endpoint
    /// sets that header. Without `resuming:`, the server may compress the whole body; if the connection then breaks
    /// off, the next attempt begins again with the first byte.
    ///
    /// A server answers a request for the rest of the body with the status 206, and the call returns the head of that
    /// response. The endpoint's `validate` receives a changed head, as if the response had the status 200 and the whole
    /// body: without `Content-Range`, and with the `Content-Length` of the whole body. So the endpoint need not accept
    /// the status 206.
    ///
    /// A request whose method is not GET, or to which the endpoint or the adapter adds `Range` or `If-Range`, is never
    /// continued: each attempt requests the same body, and the call ignores `resuming:`.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request and validates the response; its `content(from:with:)` is not called.
    ///   - file: The target: the file to write, in a folder that exists.
    ///   - resumption: Keeps the received part if the call fails or is cancelled, and continues the part of an earlier
    ///     call. By default `nil`: an attempt can continue the part of an earlier attempt of the same call, and no part
    ///     is kept after the call.
    ///   - onProgress: Called when more bytes have arrived, one call after another, from any thread; `nil` for no
    ///     reports. ``TransferProgress/received`` includes the bytes of a continued part. The closure should return
    ///     quickly: a closure that blocks delays the download, and can also delay other calls of the client.
    /// - Returns: The head of the response to the last request.
    /// - Throws: The same errors as ``request(_:onProgress:)``; the `CocoaError` of the file system; ``EndpointError`` with
    ///   the reason ``EndpointError/Reason/status`` for a status that is not 2xx, even if the endpoint accepts it.
    @discardableResult
    public func download<E: Endpoint>(
        _ endpoint: E,
        to file: URL,
        resuming resumption: DownloadResumption? = nil,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> HTTPURLResponse {
        try await EndpointCall(endpoint, pipeline).download(Download(to: file, resumption), onProgress: onProgress)
    }
}
