// What a client of one's own need not have.

extension Client {
    /// As the form without progress, of which nothing is told.
    public func request<E: Endpoint>(
        _ endpoint: E,
        onProgress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> E.Content {
        try await request(endpoint)
    }

    /// As the form without progress, of which nothing is told.
    public func upload<E: UploadEndpoint>(
        _ endpoint: E,
        onProgress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> E.Content {
        try await upload(endpoint)
    }

    /// The main queue.
    public var completionQueue: DispatchQueue { .main }

    /// By the async form with progress, in a task of its own.
    @discardableResult
    public func request<E: Endpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (APIResult<E.Content>) -> Void
    ) -> Progress {
        Progress.running(completionQueue: completionQueue) { progress in
            try await self.request(endpoint, onProgress: { progress.show($0.received, of: $0.expectedToReceive) })
        } completionHandler: {
            completionHandler($0)
        }
    }

    /// By the async form with progress, in a task of its own.
    @discardableResult
    public func upload<E: UploadEndpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (APIResult<E.Content>) -> Void
    ) -> Progress {
        Progress.running(completionQueue: completionQueue) { progress in
            try await self.upload(endpoint, onProgress: { progress.show($0.sent, of: $0.expectedToSend) })
        } completionHandler: {
            completionHandler($0)
        }
    }
}

extension Progress {
    /// Shows bytes.
    fileprivate func show(_ done: Int64, of all: Int64?) {
        guard !isFinished else { return }
        // An unknown total is −1, which is how a progress says that it does not know.
        let total = all ?? -1
        if totalUnitCount != total { totalUnitCount = total }
        completedUnitCount = done
    }
}
