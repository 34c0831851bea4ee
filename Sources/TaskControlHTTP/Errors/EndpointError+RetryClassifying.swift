public import TaskControl

extension EndpointError: RetryClassifying {
    /// The statuses after which another attempt could succeed.
    private static let transientStatuses = HTTPRetryPolicy().statuses

    /// Whether another attempt could succeed, for `retry` around a call of a client: `true` after a transient error of
    /// the transport, and after the statuses 408, 425, 429, 500, 502, 503 and 504. `false` after every other status,
    /// such as 401 and 404, and for every other ``reason``.
    public var isWorthRetrying: Bool {
        switch reason {
        case .transport: underlyingError.map { TaskControlHTTP.isRetryable($0) } ?? true
        case .status: statusCode.map(Self.transientStatuses.contains) ?? false
        case .request, .unauthorized, .content, .bodyTooLarge: false
        }
    }
}
