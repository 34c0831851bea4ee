// Names of policies that Alamofire, grpc-swift-2 and packages for time limits declare.

/// The policy of a method in grpc-swift-2, which in Alamofire is the name of a class.
public struct RetryPolicy: Hashable, Sendable {
    /// How often a call is made.
    public var maxAttempts: Int

    /// Creates a policy.
    public init(maxAttempts: Int) { self.maxAttempts = maxAttempts }
}

/// Runs an operation, and ignores the limit.
public nonisolated(nonsending) func withTimeout<Value, C: Clock>(
    _ duration: Duration,
    clock: C = ContinuousClock(),
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value where C.Duration == Duration {
    try await operation()
}
