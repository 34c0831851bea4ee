/// The time of a node's clock at each moment of the network's clock, and the reverse. Pure.
///
/// A line in pieces: at `anchor` it shows `shown`, and advances by `rate` seconds per second.
struct ClockDrift {
    private var anchor = Duration.zero
    private var shown = Duration.zero
    private(set) var rate: Double

    /// The longest sleep at one go, so that clocks which count nanoseconds in 64 bits do not overflow.
    private static let longest = Duration.seconds(365 * 86_400)

    init(rate: Double) {
        self.rate = rate
    }

    func time(at moment: Duration) -> Duration {
        // Exact for a clock that does not drift.
        shown + (rate == 1 ? moment - anchor : (moment - anchor) * rate)
    }

    /// - Returns: When to look whether the clock shows `time`: always after `moment`, but perhaps too early. `nil`: it
    ///   shows it.
    func moment(of time: Duration, after moment: Duration) -> Duration? {
        let missing = time - self.time(at: moment)
        if missing <= .zero { return nil }
        // Clocks round down to nanoseconds: a sleep of less would end at once, again and again.
        let wait = rate == 1 ? max(missing, .nanoseconds(1)) : missing / rate + .nanoseconds(1)
        return moment + min(wait, Self.longest)
    }

    mutating func setRate(_ rate: Double, at moment: Duration) {
        (shown, anchor) = (time(at: moment), moment)
        self.rate = rate
    }

    mutating func jump(by duration: Duration) {
        shown += duration
    }
}
