/// Computes the delays of one call of `retry`. Reads no clock; its random numbers come from a copy of the generator of
/// the backoff.
package struct RetrySchedule {
    private let backoff: RetryBackoff
    /// The source of the random numbers; `nil` for that of the system.
    private var generator: (any RandomNumberGenerator & Sendable)?
    /// The last delay that the backoff has computed, without the extension by a hint; `nil` before the first one.
    private var last: Duration?

    package init(_ backoff: RetryBackoff) {
        self.backoff = backoff
        generator = backoff.random?.generator
    }

    /// Returns the delay after a failed attempt.
    ///
    /// - Parameters:
    ///   - attempt: The number of the failed attempt, counted from 1.
    ///   - error: The error of the attempt.
    ///   - hint: The delay that the error requests; `nil` for none.
    /// - Returns: The delay; `nil` if there must be no further attempt.
    package mutating func delay(afterAttempt attempt: Int, error: any Error, hint: Duration?) -> Duration? {
        guard let plain = backoff.delay(afterAttempt: attempt, error: error) else { return nil }
        let own = jittered(min(plain, backoff.cap))
        last = own
        guard let hint, hint > own else { return own }
        // An attempt before the time of the hint would be refused again (RFC 9110, 10.2.3).
        return hint <= backoff.longestHint ? hint : nil
    }

    private mutating func jittered(_ delay: Duration) -> Duration {
        switch backoff.jitter {
        case nil:
            return delay
        case .full:
            return draw(.zero, delay)
        case .equal:
            return draw(delay / 2, delay)
        case .decorrelated:
            let base = backoff.custom == nil ? min(backoff.base, backoff.cap) : delay
            return draw(base, max(base, min((last ?? base).saturatingMultiplied(by: 3), backoff.cap)))
        }
    }

    /// Returns a random duration between `low` and `high`, both included, with uniform distribution.
    private mutating func draw(_ low: Duration, _ high: Duration) -> Duration {
        // 53 random bits, as many as a Double holds. Not `Double.random`, whose result for a given seed may change with
        // the standard library.
        var system = SystemRandomNumberGenerator()
        let bits: UInt64 = generator?.next() ?? system.next()
        let part = Double(bits >> 11) / Double(UInt64.max >> 11)
        return min(low + (high - low).saturatingMultiplied(by: part), high)
    }
}

extension RetryBackoff {
    /// Returns the delay after a failed attempt, to which the cap and the jitter are not applied yet, at most 100
    /// years; `nil` if there must be no further attempt.
    fileprivate func delay(afterAttempt attempt: Int, error: any Error) -> Duration? {
        guard let custom else { return base.saturatingMultiplied(by: factor.raised(to: attempt - 1)) }
        // A negative delay, for example the time until an instant that has passed, counts as zero.
        return custom(attempt, error).map { max(.zero, $0).saturated }
    }
}

extension Double {
    /// Returns the number raised to `power`, which must not be negative; infinity if the result is too large. Computed
    /// by squaring, because the standard library has no such function.
    fileprivate func raised(to power: Int) -> Double {
        var (result, square, rest) = (1.0, self, power)
        while rest > 0 {
            if rest & 1 == 1 { result *= square }
            square *= square
            rest >>= 1
        }
        return result
    }
}
