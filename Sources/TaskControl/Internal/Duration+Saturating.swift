/// Arithmetic of waits that never traps, however absurd its input: a wait that is too long becomes ``longestWait``.
extension Duration {
    /// The longest time of a single sleep of the library: 100 years (of 365.25 days).
    ///
    /// A clock adds what it is given to its time, and keeps the sum as nanoseconds in 64 bits: past 292 years that traps. No program can tell a
    /// century from longer. `Int64`, because `Int` has 32 bits on watches (arm64_32).
    package static var longestWait: Duration { .seconds(3_155_760_000 as Int64) }

    /// This duration, or ``longestWait`` if that is shorter: a time that a clock can sleep.
    package var saturated: Duration { min(self, .longestWait) }

    /// The given multiple of this duration, or ``longestWait`` if that is shorter.
    ///
    /// Exact to about 16 digits: a whole number of nanoseconds of a usual size (1 s, 50 ms) stays exact when it is doubled.
    ///
    /// - Parameter factor: 0 or more; infinity is more than enough for anything but zero.
    package func saturatingMultiplied(by factor: Double) -> Duration {
        precondition(self >= .zero && factor >= 0, "A wait is not negative.")
        let wait = saturated
        if wait == .zero || factor == 1 { return wait }
        let (seconds, attoseconds) = wait.components
        let product = (Double(seconds) + Double(attoseconds) * 1e-18) * factor
        // Of a product that is a little less, its own rounding may be a little more.
        return product < 3_155_760_000 ? (wait * factor).saturated : .longestWait
    }

    /// The duration in nanoseconds, rounded toward zero. A duration that 64 bits cannot hold counts as the nearest number.
    ///
    /// Never in the opposite order: if the number of one duration is less than that of another, so is the duration.
    package var wholeNanoseconds: Int64 {
        let most = Duration.seconds(9_223_372_036 as Int64)
        // `components` traps if the seconds need more than 64 bits.
        guard self < most else { return .max }
        guard self > .zero - most else { return .min }
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// The sum of both, or ``longestWait`` if that is shorter.
    package func saturatingAdding(_ other: Duration) -> Duration {
        (saturated + other.saturated).saturated
    }
}
