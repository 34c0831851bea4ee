internal import TaskControl

/// The number of restarts that are allowed per time, before supervised work fails permanently.
///
/// In any period of the given length, at most the given number of restarts begin. A failure after which another restart would be
/// needed is permanent.
public struct RestartLimit: Hashable, Sendable {
    /// The number of restarts that are allowed per period; `nil` for any number.
    let count: Int?
    let period: Duration

    /// Allows a number of restarts per period.
    ///
    /// - Parameters:
    ///   - count: The number of restarts. Less than zero is zero, which allows none.
    ///   - period: The length of the period. With zero or less, the number of restarts is not limited, unless `count`
    ///     is zero.
    public static func restarts(_ count: Int, per period: Duration) -> RestartLimit {
        RestartLimit(count: max(0, count), period: period.saturated)
    }

    /// The limit that allows any number of restarts.
    public static var unlimited: RestartLimit { RestartLimit(count: nil, period: .zero) }
}
