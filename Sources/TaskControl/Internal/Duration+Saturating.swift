/// Arithmetic for waits that does not overflow: results are limited to ``longestWait``.
extension Duration {
    /// The longest time of a single sleep of the library: 100 years of 365.25 days.
    ///
    /// A clock adds the time of a sleep to its current time, and keeps the sum as nanoseconds in 64 bits, which
    /// overflows after 292 years. The number of seconds is an `Int64`, because `Int` has 32 bits on watches (arm64_32).
    package static var longestWait: Duration { .seconds(3_155_760_000 as Int64) }

    /// This duration, clamped to the range from minus ``longestWait`` to ``longestWait``: a clock can overflow in both
    /// directions.
    package var saturated: Duration { min(max(self, .zero - .longestWait), .longestWait) }

    /// This duration, clamped to the range of the seconds that fit into an `Int64`: the sum and the difference of two
    /// such durations do not overflow. For times that come from other code and that are not waits.
    package var bounded: Duration { min(max(self, .seconds(Int64.min)), .seconds(Int64.max)) }

    /// Returns the given multiple of this duration, or ``longestWait`` if that is shorter. Traps if this duration is
    /// negative.
    ///
    /// Exact to about 16 digits: a whole number of nanoseconds of a usual size (1 s, 50 ms) stays exact when it is doubled.
    ///
    /// - Parameter factor: The factor. Traps if it is negative or NaN. Infinity is allowed: the result is then
    ///   ``longestWait``, or zero for a duration of zero.
    package func saturatingMultiplied(by factor: Double) -> Duration {
        precondition(self >= .zero && factor >= 0, "A wait is not negative.")
        let wait = saturated
        if wait == .zero || factor == 1 { return wait }
        let (seconds, attoseconds) = wait.components
        let product = (Double(seconds) + Double(attoseconds) * 1e-18) * factor
        // The exact product may be rounded up, so it is saturated too.
        return product < 3_155_760_000 ? (wait * factor).saturated : .longestWait
    }

    /// The duration in nanoseconds, rounded toward zero. A duration of more than 292 years, which does not fit into 64
    /// bits, becomes `Int64.max`, or `Int64.min` if it is negative.
    ///
    /// The order is kept: a duration with a smaller number than another duration is shorter.
    @usableFromInline
    package var wholeNanoseconds: Int64 {
        let most = Duration.seconds(9_223_372_036 as Int64)
        // `components` traps if the seconds need more than 64 bits.
        guard self < most else { return .max }
        guard self > .zero - most else { return .min }
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Returns the sum of this duration and another, with all three of them clamped as by ``saturated``.
    package func saturatingAdding(_ other: Duration) -> Duration {
        (saturated + other.saturated).saturated
    }
}
