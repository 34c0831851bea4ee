internal import TaskControl

/// The relation between the clock of the network and the clock of a node: converts times of the network's clock to
/// times of the node's clock, and the reverse. A value without side effects.
///
/// The node's clock has a constant rate between two changes: at the time `anchor` of the network's clock, the node's
/// clock showed `shown`, and since then it has advanced by `rate` seconds per second of the network's clock.
struct ClockDrift {
    private var anchor = Duration.zero
    private var shown = Duration.zero
    private(set) var rate: Double

    /// The longest single sleep: one year. A longer sleep is divided, because clocks that count nanoseconds in 64 bits
    /// would overflow.
    private static let longest = Duration.seconds(365 * 86_400)

    init(rate: Double) {
        self.rate = rate
    }

    func time(at moment: Duration) -> Duration {
        let passed = moment - anchor
        // Exact for a clock that does not drift.
        if rate == 1 { return (shown + passed).bounded }
        // A product of more seconds than fit into an `Int64` may overflow.
        let isTooLong = passed / .seconds(1) * rate >= 0x1p63
        return (shown + (isTooLong ? .seconds(Int64.max) : passed * rate)).bounded
    }

    /// Returns the time of the network's clock at which a sleeping task should check whether the node's clock shows
    /// `time`.
    ///
    /// - Parameters:
    ///   - time: The time of the node's clock to wait for.
    ///   - moment: The current time of the network's clock.
    ///
    /// - Returns: A time later than `moment`; `nil` if the node's clock already shows `time` or a later time. The
    ///   node's clock may not show `time` yet at the returned time: if so, call this function again.
    func moment(of time: Duration, after moment: Duration) -> Duration? {
        let missing = time - self.time(at: moment)
        if missing <= .zero { return nil }
        if missing / .seconds(1) / rate >= Self.longest / .seconds(1) { return moment + Self.longest }
        // Clocks round down to nanoseconds: a sleep of less would end at once, again and again.
        return moment + (rate == 1 ? max(missing, .nanoseconds(1)) : missing / rate + .nanoseconds(1))
    }

    mutating func setRate(_ rate: Double, at moment: Duration) {
        (shown, anchor) = (time(at: moment), moment)
        self.rate = rate
    }

    mutating func jump(by duration: Duration) {
        shown = (shown + duration.bounded).bounded
    }
}
