// The declarations of swift-retry that "Moving from swift-retry" uses, without any behavior. A parameter that the article does not use is left out.
// An operation runs on the actor of its caller, there by `@_inheritActorContext`.

public struct Backoff<ClockType: Clock>: Sendable {
    public static func `default`(baseDelay: ClockType.Duration, maxDelay: ClockType.Duration?) -> Self { Self() }
    public static func constant(_ delay: ClockType.Duration) -> Self { Self() }
}

public enum RecoveryAction<ClockType: Clock>: Sendable {
    case retry
    case retryAfter(ClockType.Instant)
    case `throw`
}

public struct NotRetryable: Error {
    public init(_ underlyingError: any Error) {}
}

public struct RetryConfiguration<ClockType: Clock>: Sendable {
    public init(
        maxAttempts: Int? = 3,
        backoff: Backoff<ContinuousClock> = .default(baseDelay: .seconds(1), maxDelay: .seconds(20)),
        recoverFromFailure: @escaping @Sendable (any Error) -> RecoveryAction<ContinuousClock> = { _ in .retry }
    ) where ClockType == ContinuousClock {}
}

public nonisolated(nonsending) func retry<Value>(
    maxAttempts: Int? = 3,
    backoff: Backoff<ContinuousClock> = .default(baseDelay: .seconds(1), maxDelay: .seconds(20)),
    operation: nonisolated(nonsending) () async throws -> Value,
    recoverFromFailure: @escaping @Sendable (any Error) -> RecoveryAction<ContinuousClock> = { _ in .retry }
) async throws -> Value {
    try await operation()
}

public nonisolated(nonsending) func retry<ClockType, Value>(
    with configuration: RetryConfiguration<ClockType>,
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value {
    try await operation()
}
