/// Arithmetic of waits that never traps, however absurd its input: what is too long is ``longestWait``.
extension Duration {
    /// The longest that the library sleeps at one go: 100 years (of 365.25 days).
    ///
    /// A clock adds what it is given to its time, and keeps the sum as nanoseconds in 64 bits: past 292 years that traps. Nobody will tell a
    /// century from longer. `Int64`, because `Int` has 32 bits on watches (arm64_32).
    package static var longestWait: Duration { .seconds(3_155_760_000 as Int64) }

    /// This, or ``longestWait`` if that is shorter: what a clock can be asked to sleep.
    package var saturated: Duration { min(self, .longestWait) }

    /// So many times this, or ``longestWait`` if that is shorter.
    ///
    /// To about 16 digits: what is a whole number of nanoseconds and of a usual size (1 s, 50 ms) stays exact when it is doubled.
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

    /// The sum of both, or ``longestWait`` if that is shorter.
    package func saturatingAdding(_ other: Duration) -> Duration {
        (saturated + other.saturated).saturated
    }
}
