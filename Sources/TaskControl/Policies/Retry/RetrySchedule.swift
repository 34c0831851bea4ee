/// The delays of one `retry`, one after the other: pure arithmetic. Time and cancellation are ``_RetryRun``'s; random numbers come out of
/// the backoff's own generator, of which this has a copy.
package struct RetrySchedule {
    private let backoff: RetryBackoff
    private var random: RetryBackoff.Jitter?
    /// The last delay of the backoff itself. Without a hint: that is a server's wish of one moment.
    private var last: Duration?

    package init(_ backoff: RetryBackoff) {
        self.backoff = backoff
        random = backoff.jitter
    }

    /// The delay after an attempt, counted from 1, that failed. `nil`: there must be no other attempt.
    ///
    /// - Parameter hint: The delay that the error asks for.
    package mutating func delay(afterAttempt attempt: Int, error: any Error, hint: Duration?) -> Duration? {
        guard let plain = backoff.shape.delay(afterAttempt: attempt, error: error) else { return nil }
        let own = jittered(min(plain, backoff.cap))
        last = own
        guard let hint, hint > own else { return own }
        // To come back sooner would be refused again (RFC 9110, 10.2.3).
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

    /// Uniform, both ends included.
    private mutating func draw(_ low: Duration, _ high: Duration) -> Duration {
        // 53 random bits, as many as a Double holds. Not `Double.random`: what that makes of a seed may change with the standard library.
        guard let bits = random?.generator.next() else { return high }
        let part = Double(bits >> 11) / Double(UInt64.max >> 11)
        return min(low + (high - low).saturatingMultiplied(by: part), high)
    }
}

extension RetryBackoff.Shape {
    /// The delay before cap and jitter, and 100 years at most.
    fileprivate func delay(afterAttempt attempt: Int, error: any Error) -> Duration? {
        switch self {
        case .fixed(let delay):
            return delay.saturated
        case .exponential(let base, let factor):
            return base.saturatingMultiplied(by: factor.raised(to: attempt - 1))
        case .custom(let delay):
            // Computed at run time: a negative one, such as a deadline that has passed, means no delay.
            return delay(attempt, error).map { max(.zero, $0).saturated }
        }
    }

    /// Where decorrelated delays begin, if not at the delay of the moment.
    fileprivate var base: Duration? {
        if case .exponential(let base, _) = self { base } else { nil }
    }
}

extension Double {
    /// By squaring; the standard library has no powers. Infinite when it is too much for a Double.
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
