/// The delays of `retry` after failed attempts.
///
/// ```swift
/// // 50 ms, 100 ms, 200 ms … at most 20 s; a random part of each, so that clients that failed at the same time do not
/// // retry at the same time.
/// let backoff = RetryBackoff.exponential(base: .milliseconds(50))
///     .capped(at: .seconds(20))
///     .jittered(.full)
/// ```
///
/// A delay of more than 100 years counts as 100 years: neither a large number of attempts nor a large base overflows.
///
/// The order of ``capped(at:)`` and ``jittered(_:using:)`` does not matter: jitter is always applied to the capped
/// delay.
///
/// For a delay that a server asks for, see ``RetryAdvising``.
public struct RetryBackoff: Sendable {
    /// The first delay.
    let base: Duration
    /// The growth of the delay per attempt: 1 for a delay that stays the same.
    let factor: Double
    /// Returns the delays of a backoff that a closure decides; `nil` for other backoffs.
    let custom: (@Sendable (_ attempt: Int, _ error: any Error) -> Duration?)?
    private(set) var cap = Duration.longestWait
    private(set) var jitter: RetryJitter?
    /// The source of the random numbers; `nil` for that of the system.
    private(set) var random: RandomSource?

    /// A generator of random numbers, of which each call of `retry` uses a copy. A class, so that a copy of a backoff, which each call
    /// makes and few calls use, takes few instructions.
    final class RandomSource: Sendable {
        let generator: any RandomNumberGenerator & Sendable

        init(_ generator: any RandomNumberGenerator & Sendable) { self.generator = generator }
    }

    /// The longest hint of an error (see ``RetryAdvising``) to which a delay is extended: the cap, or one minute
    /// if there is no cap.
    var longestHint: Duration { cap < .longestWait ? cap : .seconds(60) }

    private init(
        base: Duration = .zero,
        factor: Double = 1,
        custom: (@Sendable (_ attempt: Int, _ error: any Error) -> Duration?)? = nil
    ) {
        self.base = max(.zero, base)
        self.factor = factor
        self.custom = custom
    }

    /// The backoff without delays: the next attempt begins at once, unless the error has a hint (see
    /// ``RetryAdvising``).
    ///
    /// Use it for an operation that fails at random and costs nothing to repeat. For a server that may be overloaded,
    /// see ``exponential(base:factor:)``. Other tasks of the caller's actor run after 100 attempts, or after a
    /// millisecond of them.
    public static var none: RetryBackoff { RetryBackoff() }

    /// Returns a backoff with the same delay after each attempt.
    ///
    /// - Parameter delay: The delay. A negative delay counts as zero.
    public static func fixed(_ delay: Duration) -> RetryBackoff {
        RetryBackoff(base: delay)
    }

    /// Returns a backoff with a delay that grows: `base` after the first attempt, then each time `factor` times the
    /// previous delay. After attempt *n*, counted from 1, the delay is `base` × `factor`ⁿ⁻¹.
    ///
    /// - Parameters:
    ///   - base: The first delay. A negative delay counts as zero.
    ///   - factor: The growth per attempt. Less than 1 counts as 1, and NaN as 2. By default 2, as in the AWS SDKs.
    public static func exponential(base: Duration, factor: Double = 2) -> RetryBackoff {
        let factor = ComputedNumber.number(
            factor,
            in: 1...Double.greatestFiniteMagnitude,
            default: 2,
            "RetryBackoff.exponential(factor:)",
            .retry
        )
        return RetryBackoff(base: base, factor: factor)
    }

    /// Returns a backoff whose delays a closure decides.
    ///
    /// ```swift
    /// // Soon at first, then every minute, and not at all when the account is locked.
    /// let backoff = RetryBackoff.custom { attempt, error in
    ///     if error is AccountLocked { return nil }
    ///     return attempt < 5 ? .seconds(attempt) : .seconds(60)
    /// }
    /// ```
    ///
    /// - Parameter delay: Receives the number of the attempt that failed, counted from 1, and its error. Returns the
    ///   delay before the next attempt; a negative delay counts as zero. If the closure returns `nil`, there is no
    ///   further attempt, and the error is thrown.
    public static func custom(
        _ delay: @escaping @Sendable (_ attempt: Int, _ error: any Error) -> Duration?
    ) -> RetryBackoff {
        RetryBackoff(custom: delay)
    }

    /// Returns a backoff with the same delays, but none longer than `cap`. If a backoff is capped several times, the
    /// lowest cap applies.
    ///
    /// The cap also applies to the hints of errors: a longer hint ends the retries. See ``RetryAdvising``.
    ///
    /// - Parameter cap: The longest delay. If zero or negative, there is no delay.
    public func capped(at cap: Duration) -> RetryBackoff {
        var backoff = self
        backoff.cap = min(self.cap, max(.zero, cap))
        return backoff
    }

    /// Returns a backoff whose delays are random, so that clients that failed at the same time do not retry at the same
    /// time. The random delay is computed from the delay of this backoff, after the cap is applied.
    ///
    /// If a backoff is jittered several times, the last jitter applies.
    ///
    /// - Parameters:
    ///   - jitter: The range from which each delay is drawn.
    ///   - generator: The source of the random numbers. Each call of `retry` uses a copy of it, so that with a seeded
    ///     generator, in a test, every call has the same delays.
    public func jittered<Generator: RandomNumberGenerator & Sendable>(
        _ jitter: RetryJitter,
        using generator: Generator = SystemRandomNumberGenerator()
    ) -> RetryBackoff {
        var backoff = self
        backoff.jitter = jitter
        backoff.random = Generator.self == SystemRandomNumberGenerator.self ? nil : RandomSource(generator)
        return backoff
    }
}
