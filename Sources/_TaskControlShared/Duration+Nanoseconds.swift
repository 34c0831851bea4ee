extension Duration {
    /// The duration in whole nanoseconds, rounded toward zero. A duration above 146 years counts as 146 years, and a
    /// duration below −146 years as −146 years: half of the range of an `Int64`, so that the difference of two values
    /// fits too.
    ///
    /// The value is an `Int64` because an `Int` has only 32 bits on watches (arm64_32), which suffice for 2.1 seconds.
    public var nanoseconds: Int64 {
        // Clamped before `components` is read, which traps if the seconds exceed an `Int64`.
        let (shortest, longest) = (Duration.nanoseconds(Int64.min / 2), Duration.nanoseconds(Int64.max / 2))
        let (seconds, attoseconds) = min(max(self, shortest), longest).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
