internal import TaskControl

/// The number of restarts that are allowed per period, before supervised work fails permanently.
///
/// In any period of the given length, at most the given number of restarts begin. If a failure would need one restart
/// more, the work is not restarted, and has failed permanently.
public struct RestartLimit: Hashable, Sendable {
    /// The number of restarts that are allowed per period; `nil` for any number.
    let count: Int?
    let period: Duration

    /// Creates a limit that allows a number of restarts per period.
    ///
    /// - Parameters:
    ///   - count: The number of restarts. A negative number counts as zero, which allows no restart.
    ///   - period: The length of the period. If it is zero or negative, the number of restarts is not limited, unless
    ///     `count` is zero.
    public static func restarts(_ count: Int, per period: Duration) -> RestartLimit {
        RestartLimit(
            count: ComputedNumber.count(count, atLeast: 0, "RestartLimit.restarts(_:per:)", .supervisor),
            period: period.saturated
        )
    }

    /// The limit that allows any number of restarts.
    public static var unlimited: RestartLimit { RestartLimit(count: nil, period: .zero) }
}
