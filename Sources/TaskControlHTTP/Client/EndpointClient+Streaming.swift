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
    /// The endpoint validates the response before the closure is called; its `content(from:with:)` is not called.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the request.
    ///   - receive: Called at most once, in the caller's isolation. When the closure returns, the exchange (the request
    ///     and its response) ends, even if the body has not been read to its end. The closure is not called for a
    ///     response that the policies treat as a failure: if the server rejects the authenticator's credential, or if
    ///     the request can be repeated and the status is one of ``HTTPRetryPolicy/statuses``. Such a request is sent
    ///     again, or the call throws an error.
    /// - Returns: The value of `receive`.
    /// - Throws: The same errors as ``request(_:onProgress:)``, and the error of `receive`, unchanged.
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
    ///   - receive: Called at most once, in the caller's isolation. When the closure returns, the exchange (the request
    ///     and its response) ends, even if the body of the response has not been read to its end. The closure is not
    ///     called for a response that the policies treat as a failure: if the server rejects the authenticator's
    ///     credential, or if the request can be repeated and the status is one of ``HTTPRetryPolicy/statuses``. Such a
    ///     request is sent again, or the call throws an error.
    /// - Returns: The value of `receive`.
    /// - Throws: The same errors as ``upload(_:onProgress:)``, and the error of `receive`, unchanged.
    public func withResponse<E: UploadEndpoint, Value>(
        to endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try await EndpointCall(endpoint, pipeline).withResponse(onProgress: onProgress, receive)
    }

    /// Sends a request, and writes the body of its response to a file, as it arrives.
    ///
    /// The file appears when the body is complete. An existing file is replaced in one step, and the new file has the
    /// permissions of the existing one. If `file` is a symbolic link, the file to which it points is written, and the
    /// link stays.
    ///
    /// Without `resuming:`, the part that has arrived is written to a hidden file in the same folder. The hidden file
    /// is removed if the call fails. If the process is killed, the hidden file stays, and nothing removes it later; its
    /// name begins with `.taskcontrol-` and ends in `.part`. A target that is not a regular file, such as a device or a
    /// pipe, is written to directly, as the body arrives; writing to a pipe blocks the caller's thread while no process
    /// reads from the pipe.
    ///
    /// With `resuming:`, the part that has arrived is written to ``DownloadResumption/partialFile``. If the call fails,
    /// this file stays, provided that a later call can continue the body. A target that is a device or a pipe fails the
    /// call.
    ///
    /// ## Resuming
    /// A connection that breaks off in the middle of the body is an error of the transport: with
    /// ``ClientPolicies/retry``, another attempt follows. This attempt requests only the rest of the body if two
    /// conditions hold: the response had a strong validator, which identifies the exact content, and its body had no
    /// content coding, such as gzip. Otherwise the attempt requests the whole body. ``DownloadResumption`` describes
    /// which validators are strong, and also keeps the received part for a later call.
    ///
    /// With `resuming:`, each request asks for a body without a content coding (`Accept-Encoding: identity`), unless
    /// the endpoint sets that header. Without `resuming:`, only a request for the rest of a body asks for a body
    /// without a content coding: if the server compresses the body, the next attempt begins again with the first byte.
    ///
    /// A server answers a request for the rest of the body with the status 206, and the call returns the head of that
    /// response. The endpoint's `validate` receives a changed head, as if the response had the status 200 and the whole
    /// body: without `Content-Range`, and with the `Content-Length` of the whole body. So the endpoint need not accept
    /// 206. A request with another method than GET, or with a `Range` or `If-Range` header of its own, is never
    /// resumed.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the request. It validates the response; its `content(from:with:)` is not called.
    ///   - file: The file to write, in a folder that exists.
    ///   - resumption: Keeps the received part if the call fails or is cancelled, and continues the part of an earlier
    ///     call. By default `nil`: the attempts of one call continue each other, and no part is kept after the call.
    ///   - onProgress: Called when more bytes have arrived, one call after another, from any thread; `nil` for no
    ///     reports. The received bytes include those of a continued part. The closure should return quickly: a closure
    ///     that blocks delays the download, and may delay other calls of the client.
    /// - Returns: The head of the last response.
    /// - Throws: The same errors as ``request(_:onProgress:)``; the error of the file system, such as a `CocoaError`;
    ///   ``HTTPError`` for a status that is not 2xx, even if the endpoint accepts it.
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
