// The members of a client that every client has, and those that a client need not implement.

extension APIClient {
    /// Sends a request, and returns the decoded content of the response.
    ///
    /// Calls ``request(_:onProgress:)`` without a progress closure, and throws the same errors.
    public func request<E: Endpoint>(_ endpoint: E) async throws -> E.Content {
        try await request(endpoint, onProgress: nil)
    }

    /// Uploads a body, and returns the decoded content of the response.
    ///
    /// Calls ``upload(_:onProgress:)`` without a progress closure, and throws the same errors.
    public func upload<E: UploadEndpoint>(_ endpoint: E) async throws -> E.Content {
        try await upload(endpoint, onProgress: nil)
    }

    /// The main queue: the default queue on which completion handlers are called. A client can implement this property to
    /// use another queue.
    public var completionQueue: DispatchQueue { .main }

    /// Sends a request in a new task, and passes the content or the error to a completion handler.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request, and decodes the content of the response.
    ///   - completionHandler: Receives the content or the error. Called once, asynchronously, on ``completionQueue``.
    /// - Returns: A progress that counts the received bytes of the response, if the client reports progress. Cancelling
    ///   the progress cancels the request.
    @discardableResult
    public func request<E: Endpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (Result<E.Content, any Error>) -> Void
    ) -> Progress {
        Progress.start(completionQueue: completionQueue) { progress in
            try await self.request(endpoint, onProgress: { progress.show($0.received, of: $0.expectedToReceive) })
        } completionHandler: {
            completionHandler($0)
        }
    }

    /// Uploads a body in a new task, and passes the content or the error to a completion handler.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request, and decodes the content of the response.
    ///   - completionHandler: Receives the content or the error. Called once, asynchronously, on ``completionQueue``.
    /// - Returns: A progress that counts the sent bytes, if the client reports progress. Cancelling the progress
    ///   cancels the upload.
    @discardableResult
    public func upload<E: UploadEndpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (Result<E.Content, any Error>) -> Void
    ) -> Progress {
        Progress.start(completionQueue: completionQueue) { progress in
            try await self.upload(endpoint, onProgress: { progress.show($0.sent, of: $0.expectedToSend) })
        } completionHandler: {
            completionHandler($0)
        }
    }
}

extension Progress {
    /// Sets the unit counts to numbers of bytes, unless the progress is finished.
    ///
    /// - Parameters:
    ///   - done: The number of bytes that were sent or received.
    ///   - all: The total number of bytes; `nil` if it is not known.
    fileprivate func show(_ done: Int64, of all: Int64?) {
        guard !isFinished else { return }
        // An unknown total is −1, which is how a progress says that it does not know.
        let total = all ?? -1
        if totalUnitCount != total { totalUnitCount = total }
        completedUnitCount = done
    }
}
