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
    /// - Throws: What ``request(_:)`` throws, and what `receive` throws, as it is.
    public func withResponse<E: Endpoint, Value>(
        to endpoint: E,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try await pipeline.withResponse(to: endpoint, onProgress: nil, receive)
    }

    /// Sends a request, and writes the body of its response to a file, as it arrives.
    ///
    /// The file appears when all is there: until then the body is in a file beside it, which is removed if the call fails. A file that is
    /// there already is replaced.
    ///
    /// - Parameters:
    ///   - endpoint: What to ask for. It validates the response; its `content(from:with:)` is not called.
    ///   - file: Where to, in a folder that exists.
    ///   - onProgress: Called when more has arrived, one call after another, from any thread.
    /// - Returns: The head of the response.
    /// - Throws: What ``request(_:)`` throws, and what the file system gives, as it is. A status that is not 2xx throws too, also where the
    ///   endpoint takes it.
    @discardableResult
    public func download<E: Endpoint>(
        _ endpoint: E,
        to file: URL,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> HTTPURLResponse {
        try await pipeline.withResponse(to: endpoint, onProgress: onProgress) { response in
            guard (200..<300).contains(response.head.statusCode) else { throw HTTPError(.status) }
            let part = try PartFile(for: file)
            do {
                for try await chunk in response.body { try part.write(chunk) }
                try part.finish()
            } catch {
                part.remove()
                throw error
            }
            return response.head
        }
    }
}

/// A file that is not whole yet, beside the one that it is to become.
private struct PartFile {
    private let file: URL
    private let part: URL
    private let handle: FileHandle

    init(for file: URL) throws {
        self.file = file
        part = file.deletingLastPathComponent()
            .appendingPathComponent(".\(UUID().uuidString).part")
        try Data().write(to: part, options: .withoutOverwriting)
        do {
            handle = try FileHandle(forWritingTo: part)
        } catch {
            try? FileManager.default.removeItem(at: part)
            throw error
        }
    }

    func write(_ chunk: Data) throws {
        try handle.write(contentsOf: chunk)
    }

    func finish() throws {
        try handle.close()
        // rename(2), which replaces in one step: Foundation's `moveItem` refuses to replace.
        guard rename(part.path, file.path) == 0 else {
            let reason = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            throw CocoaError(
                .fileWriteUnknown,
                userInfo: [NSFilePathErrorKey: file.path, NSUnderlyingErrorKey: reason]
            )
        }
    }

    func remove() {
        try? handle.close()
        try? FileManager.default.removeItem(at: part)
    }
}
