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
    ///   - receive: Called once, in the caller's isolation. When it returns the exchange is over, even if there is more to read. Not called
    ///     for a response that the policies count as a failure: a status that the retry policy repeats, if the request can be repeated, and a
    ///     rejection of the authenticator's credential.
    /// - Returns: The value of `receive`.
    /// - Throws: The errors of ``request(_:onProgress:)``, and the error of `receive`, unchanged.
    public func withResponse<E: Endpoint, Value>(
        to endpoint: E,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try await EndpointCall(endpoint, pipeline).withResponse(onProgress: nil, receive)
    }

    /// Uploads a body, and passes the response to a closure as it arrives.
    ///
    /// The closure is called after the upload: no transport of this module returns a response while it is still sending.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint. It validates the response; its `content(from:with:)` is not called.
    ///   - onProgress: Called when more bytes have been sent or received, one call after another, from any thread.
    ///   - receive: Called once, in the caller's isolation. When it returns the exchange is over, even if there is more
    ///     to read.
    /// - Returns: The value of `receive`.
    /// - Throws: The errors of ``upload(_:onProgress:)``, and the error of `receive`, unchanged.
    public func withResponse<E: UploadEndpoint, Value>(
        to endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try await EndpointCall(endpoint, pipeline).withResponse(onProgress: onProgress, receive)
    }

    /// Sends a request, and writes the body of its response to a file, as it arrives.
    ///
    /// The file appears when the body is complete. An existing file is replaced in one step, and the new file has its permissions. A symbolic link
    /// is followed, and stays.
    ///
    /// Without `resuming:`, an incomplete body is in a hidden file in the same folder. The hidden file is removed if the call fails.
    /// A process that is killed leaves the hidden file, whose name begins with `.taskcontrol-` and ends in `.part`. Nothing
    /// removes it. Anything except a regular file, such as a device or a pipe, is written to directly, as the body arrives; a
    /// pipe blocks the caller's thread while nothing reads from it.
    ///
    /// With `resuming:`, an incomplete body is in ``DownloadResumption/partialFile``. This file stays if the call fails and the
    /// body can be continued. A device or a pipe is refused.
    ///
    /// ## Resuming
    /// A connection that breaks off in the middle of the body is an error of the transport: with ``ClientPolicies/retry``,
    /// another attempt follows. It requests the rest of the body if the server has sent a strong validator and the body has
    /// no content coding, and otherwise begins again; see ``DownloadResumption``, which also keeps the received part for a
    /// later call. With `resuming:`, each request asks for a body without a coding (`Accept-Encoding: identity`), unless the
    /// endpoint sets that header. Without `resuming:`, only a request for the rest does, so the download of a body that the
    /// server compresses begins again.
    ///
    /// The response to a continuation is a 206 with the headers of the rest, and the call returns this head. The endpoint validates it as a 200
    /// with the whole content, without `Content-Range` and with the length of the whole: it need not accept 206. Nothing is resumed for a request
    /// with a method other than GET or a `Range` of its own.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the request. It validates the response; its `content(from:with:)` is not called.
    ///   - file: The target, in a folder that exists.
    ///   - resumption: Keeps the received part if the call fails or is cancelled, and continues the part of an earlier call.
    ///     By default `nil`: an attempt continues those of the same call, and nothing is kept.
    ///   - onProgress: Called when more bytes have arrived, one call after another, from any thread. The received bytes include those of a
    ///     continued part. The closure should return quickly: if it blocks, it delays the download, and may delay others.
    /// - Returns: The head of the response.
    /// - Throws: The errors of ``request(_:onProgress:)``, and those of the file system, unchanged. ``HTTPError`` for a status that is not 2xx,
    ///   even if the endpoint accepts it.
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
