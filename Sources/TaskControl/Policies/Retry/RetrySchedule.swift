/// Computes the delays of one call of `retry`. Reads no clock; its random numbers come from a copy of the generator of
/// the backoff.
package struct RetrySchedule {
    private let backoff: RetryBackoff
    private var random: RetryBackoff.Jitter?
    /// The last delay that the backoff has computed, without the extension by a hint; `nil` before the first one.
    private var last: Duration?

    package init(_ backoff: RetryBackoff) {
        self.backoff = backoff
        random = backoff.jitter
    }

    /// Returns the delay after a failed attempt.
    ///
    /// - Parameters:
    ///   - attempt: The number of the failed attempt, counted from 1.
    ///   - error: The error of the attempt.
    ///   - hint: The delay that the error requests; `nil` for none.
    /// - Returns: The delay; `nil` if there must be no further attempt.
    package mutating func delay(afterAttempt attempt: Int, error: any Error, hint: Duration?) -> Duration? {
        guard let plain = backoff.shape.delay(afterAttempt: attempt, error: error) else { return nil }
        let own = jittered(min(plain, backoff.cap))
        last = own
        guard let hint, hint > own else { return own }
        // An attempt before the time of the hint would be refused again (RFC 9110, 10.2.3).
        return hint <= backoff.longestHint ? hint : nil
    }

    private mutating func jittered(_ delay: Duration) -> Duration {
        switch random?.kind {
        case nil:
            return delay
        case .full:
            return draw(.zero, delay)
        case .equal:
            return draw(delay / 2, delay)
        case .decorrelated:
            let base = min(backoff.shape.base ?? delay, backoff.cap)
            return draw(base, max(base, min((last ?? base).saturatingMultiplied(by: 3), backoff.cap)))
        }
    }

    /// Returns a random duration between `low` and `high`, both included, with uniform distribution.
    private mutating func draw(_ low: Duration, _ high: Duration) -> Duration {
        // 53 random bits, as many as a Double holds. Not `Double.random`, whose result for a given seed may change with
        // the standard library.
        guard let bits = random?.generator.next() else { return high }
        let part = Double(bits >> 11) / Double(UInt64.max >> 11)
        return min(low + (high - low).saturatingMultiplied(by: part), high)
    }
}

extension RetryBackoff.Shape {
    /// Returns the delay after a failed attempt, to which the cap and the jitter are not applied yet, at most 100
    /// years; `nil` if there must be no further attempt.
    fileprivate func delay(afterAttempt attempt: Int, error: any Error) -> Duration? {
        switch self {
        case .fixed(let delay):
            return delay.saturated
        case .exponential(let base, let factor):
            return base.saturatingMultiplied(by: factor.raised(to: attempt - 1))
        case .custom(let delay):
            // A negative delay, for example the time until an instant that has passed, counts as zero.
            return delay(attempt, error).map { max(.zero, $0).saturated }
        }
    }

    /// The first delay of an exponential backoff, which is the base of decorrelated jitter; `nil` for other backoffs,
    /// for which the base is the delay after the failed attempt.
    fileprivate var base: Duration? {
        if case .exponential(let base, _) = self { base } else { nil }
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
