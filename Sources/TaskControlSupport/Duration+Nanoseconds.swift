extension Duration {
    /// The duration in whole nanoseconds, rounded toward zero. A duration above 146 years counts as 146 years, and a
    /// duration below −146 years as −146 years: half of the range of an `Int64`, so that the difference of two values
    /// fits too.
    ///
    /// The value is an `Int64` because an `Int` has only 32 bits on watches (arm64_32), which suffice for 2.1 seconds.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isBeyond) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        // The limit is half of the range, so that the difference of two values fits too.
        guard !isTooLarge, !isBeyond else { return seconds < 0 ? Int64.min / 2 : Int64.max / 2 }
        return min(max(sum, Int64.min / 2), Int64.max / 2)
    }
}
