internal import TaskControlSupport

extension EndpointClient {
    /// Sends a request, and hands over its response as it arrives.
    ///
    /// ```swift
    /// let lines = try await client.withResponse(to: ExportEndpoint()) { response in
    ///     var lines = 0
    ///     for try await chunk in response.body { lines += chunk.count { $0 == UInt8(ascii: "\n") } }
    ///     return lines
    /// }
    /// ```
    ///
    /// The endpoint validates the response before; its `content(from:with:)` is not called.
    ///
    /// - Parameters:
    ///   - endpoint: What to ask for.
    ///   - receive: Called once, in the caller's isolation. When it returns the exchange is over, even if there is more to read. It is not
    ///     given what the policies take for a failure: with a retry policy one of its statuses, if the request can be repeated; with an
    ///     authenticator a rejection.
    /// - Returns: What `receive` returns.
    /// - Throws: What ``request(_:onProgress:)`` throws, and what `receive` throws, as it is.
    public func withResponse<E: Endpoint, Value>(
        to endpoint: E,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try await EndpointCall(endpoint, pipeline).withResponse(onProgress: nil, receive)
    }

    /// Uploads something, and hands over the response as it arrives.
    ///
    /// The response arrives after the upload: no transport here hands over a response while it still sends.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint. It validates the response; its `content(from:with:)` is not called.
    ///   - onProgress: Called when more has been sent or received, one call after another, from any thread.
    ///   - receive: Called once, in the caller's isolation. When it returns the exchange is over, even if there is more
    ///     to read.
    /// - Returns: What `receive` returns.
    /// - Throws: As ``upload(_:onProgress:)``, and what `receive` throws, as it is.
    public func withResponse<E: UploadEndpoint, Value>(
        toUpload endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try await EndpointCall(endpoint, pipeline).withResponse(onProgress: onProgress, receive)
    }

    /// Sends a request, and writes the body of its response to a file, as it arrives.
    ///
    /// The file appears when all is there: until then the body is in a hidden file in the same folder, which is removed if the call fails. A
    /// file that is there already is replaced in one step, and passes its permissions on. A symbolic link is followed, and stays. Anything
    /// but a regular file, such as a device or a pipe, is written to directly, as the body arrives; a pipe blocks the caller's thread while nobody
    /// reads from it.
    ///
    /// A process that is killed leaves the hidden file, whose name begins with `.taskcontrol-` and ends in `.part`. Nothing removes it.
    ///
    /// - Parameters:
    ///   - endpoint: What to ask for. It validates the response; its `content(from:with:)` is not called.
    ///   - file: Where to, in a folder that exists.
    ///   - onProgress: Called when more has arrived, one call after another, from any thread. It should return quickly: one that blocks
    ///     holds up the download, and may hold up others.
    /// - Returns: The head of the response.
    /// - Throws: What ``request(_:onProgress:)`` throws, and what the file system gives, as it is. A status that is not 2xx throws too, also where the
    ///   endpoint takes it.
    @discardableResult
    public func download<E: Endpoint>(
        _ endpoint: E,
        to file: URL,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> HTTPURLResponse {
        try await EndpointCall(endpoint, pipeline).withResponse(onProgress: onProgress) {
            response in
            guard (200..<300).contains(response.head.statusCode) else { throw HTTPError(.status) }
            do {
                let output = try OutputFile(file.path)
                do {
                    for try await chunk in response.body { try chunk.withUnsafeBytes { try output.write($0) } }
                } catch {
                    output.discard()
                    throw error
                }
                try output.finish()
            } catch let error as OutputFile.SystemError {
                throw error.ofFoundation(file)
            }
            return response.head
        }
    }
}

extension OutputFile.SystemError {
    /// As Foundation's own functions say it.
    fileprivate func ofFoundation(_ file: URL) -> CocoaError {
        let reason = POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        let cocoaCode: CocoaError.Code =
            switch reason.code {
            case .ENOENT, .ENOTDIR: .fileNoSuchFile
            case .EACCES, .EPERM: .fileWriteNoPermission
            case .ENOSPC, .EDQUOT: .fileWriteOutOfSpace
            case .EROFS: .fileWriteVolumeReadOnly
            default: .fileWriteUnknown
            }
        return CocoaError(cocoaCode, userInfo: [NSFilePathErrorKey: file.path, NSUnderlyingErrorKey: reason])
    }
}
