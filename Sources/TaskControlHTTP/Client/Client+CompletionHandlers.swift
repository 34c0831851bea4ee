extension Client {
    /// The main queue.
    public var completionQueue: DispatchQueue { .main }

    @discardableResult
    public func request<E: Endpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (APIResult<E.Content>) -> Void
    ) -> Progress {
        start(completionHandler) { _ in try await self.request(endpoint) }
    }

    @discardableResult
    public func upload<E: UploadEndpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (APIResult<E.Content>) -> Void
    ) -> Progress {
        start(completionHandler) { _ in try await self.upload(endpoint) }
    }

    /// Does work in a task of its own, and takes its result to a completion handler.
    func start<Content: Sendable>(
        _ completionHandler: @escaping @Sendable (APIResult<Content>) -> Void,
        operation: @escaping @Sendable (Progress) async throws -> Content
    ) -> Progress {
        let queue = completionQueue
        return Progress.begin { progress in
            let result: APIResult<Content>
            do {
                result = .success(try await operation(progress))
            } catch {
                result = .failure(error)
            }
            progress.finish()
            queue.async { completionHandler(result) }
        }
    }
}

extension EndpointClient {
    /// Sends a request; gives its content to a completion handler.
    ///
    /// - Parameter completionHandler: Called once, on ``completionQueue``, and never before this has returned.
    /// - Returns: How many bytes of the response have arrived; cancelling it cancels the request.
    @discardableResult
    public func request<E: Endpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (APIResult<E.Content>) -> Void
    ) -> Progress {
        start(completionHandler) { progress in
            try await self.request(endpoint) { progress.show($0.received, of: $0.expectedToReceive) }
        }
    }

    /// Uploads something; gives the content of the response to a completion handler.
    ///
    /// - Parameter completionHandler: Called once, on ``completionQueue``, and never before this has returned.
    /// - Returns: How many bytes have been sent; cancelling it cancels the upload.
    @discardableResult
    public func upload<E: UploadEndpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (APIResult<E.Content>) -> Void
    ) -> Progress {
        start(completionHandler) { progress in
            try await self.upload(endpoint) { progress.show($0.sent, of: $0.expectedToSend) }
        }
    }
}

extension Progress {
    /// Shows bytes.
    fileprivate func show(_ done: Int64, of all: Int64?) {
        // An unknown total is −1, which is how a progress says that it does not know.
        let total = all ?? -1
        if totalUnitCount != total { totalUnitCount = total }
        completedUnitCount = done
    }
}
