internal import TaskControl

/// The times of periodic work, as durations since its beginning. Pure: a value without a lock, task or clock.
///
/// With a fixed rate, each time is the first one plus a multiple of the interval. The sums are exact, so there is no drift.
struct PeriodicStateMachine {
    let interval: Duration
    private let timing: PeriodicTiming
    /// The time for which the next tick is planned, without jitter.
    private(set) var due: Duration
    /// The number of failures since the last success.
    private(set) var failures = 0

    /// Creates the times of periodic work.
    ///
    /// - Parameters:
    ///   - interval: The interval. Less than a nanosecond counts as a nanosecond.
    ///   - timing: The rule for when the work begins again.
    ///   - first: The time of the first tick. A negative time counts as zero.
    init(interval: Duration, timing: PeriodicTiming, first: Duration) {
        self.interval = max(.nanoseconds(1), interval).saturated
        self.timing = timing
        due = max(.zero, first).saturated
    }

    /// Records that a tick begins, at its planned time or later.
    mutating func begin(at now: Duration) {
        switch timing {
        case .fixedDelay, .fixedRate(.all): break
        // Ticks that were missed before this tick are combined with it.
        case .fixedRate: due = lastTime(notAfter: now)
        }
    }

    /// Records that a tick has succeeded, and plans the next one.
    mutating func succeed(at now: Duration) {
        failures = 0
        switch timing {
        case .fixedDelay: due = now.saturatingAdding(interval)
        case .fixedRate(.skip): due = firstTime(notBefore: now)
        case .fixedRate(.once): due = max(due + interval, lastTime(notAfter: now))
        case .fixedRate(.all): due += interval
        }
    }

    /// Records that a tick has failed. The caller must then call ``backOff(_:hint:at:)``.
    ///
    /// - Returns: The number of failures since the last success.
    mutating func fail() -> Int {
        failures += 1
        return failures
    }

    /// Plans the next tick after a failure. Ticks that are missed before it are left out.
    ///
    /// - Parameters:
    ///   - delay: The time after the failed tick. At least an interval.
    ///   - hint: The time from now for which a server asked to receive no further call. The next tick is not planned
    ///     before the end of this time.
    ///   - now: The time at which the work has failed.
    mutating func backOff(_ delay: Duration, hint: Duration = .zero, at now: Duration) {
        let (delay, earliest) = (max(interval, delay.saturated), now.saturatingAdding(max(.zero, hint)))
        switch timing {
        case .fixedDelay: due = max(now.saturatingAdding(delay), earliest)
        case .fixedRate: due = firstTime(notBefore: max(earliest, due + delay))
        }
    }

    /// Returns the last regular time, which is the planned time plus a multiple of the interval, that is not after a
    /// time; the planned time if it is later than the given time.
    private func lastTime(notAfter time: Duration) -> Duration {
        // A clock may jump far: the quotient must be a number of 64 bits.
        let time = time.saturated
        guard time > due else { return due }
        // To a few steps, and then exactly: the quotient is rounded.
        var last = due + interval * Int64((time - due) / interval)
        while last > time { last -= interval }
        while last + interval <= time { last += interval }
        return last
    }

    /// Returns the first regular time, which is the planned time plus a multiple of the interval, that is after the
    /// planned time and not before a time.
    private func firstTime(notBefore time: Duration) -> Duration {
        let last = lastTime(notAfter: time)
        return last == due || last < time ? last + interval : last
    }
}
