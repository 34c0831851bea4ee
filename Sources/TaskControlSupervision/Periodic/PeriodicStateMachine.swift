internal import TaskControl

/// The times of periodic work, as durations since its beginning. Pure: a value without a lock, task or clock.
///
/// With a fixed rate, each time is the first one plus a multiple of the interval. The sums are exact, so there is no drift.
struct PeriodicStateMachine {
    let interval: Duration
    private let timing: PeriodicTiming
    /// The time for which the next tick is planned, without jitter, counted from the beginning of the periodic work.
    private(set) var due: Duration
    /// The number of failed ticks since the last tick that succeeded.
    private(set) var failures = 0

    /// Creates the times of periodic work.
    ///
    /// - Parameters:
    ///   - interval: The time between two ticks. Less than a nanosecond counts as a nanosecond.
    ///   - timing: The rule for when the work begins again.
    ///   - first: The time from the beginning of the periodic work to the first tick. A negative time counts as zero.
    init(interval: Duration, timing: PeriodicTiming, first: Duration) {
        self.interval = max(.nanoseconds(1), interval).saturated
        self.timing = timing
        due = max(.zero, first).saturated
    }

    /// Records that a tick begins, at its planned time or later. `now` is counted from the beginning of the periodic
    /// work.
    mutating func begin(at now: Duration) {
        switch timing {
        case .fixedDelay, .fixedRate(.all): break
        // Ticks that were missed before this tick are combined with it.
        case .fixedRate: due = lastTime(notAfter: now)
        }
    }

    /// Records that a tick has succeeded at the time `now`, counted from the beginning of the periodic work, and plans
    /// the next tick.
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
    /// - Returns: The number of failed ticks since the last tick that succeeded, including this one.
    mutating func fail() -> Int {
        failures += 1
        return failures
    }

    /// Plans the next tick after a failure. Ticks that are missed before it are left out.
    ///
    /// - Parameters:
    ///   - delay: The time from the failed tick to the next tick. Less than one interval counts as one interval.
    ///   - hint: The time, counted from `now`, for which a server asked to receive no further call. The next tick is
    ///     not planned before the end of this time.
    ///   - now: The time at which the work failed, counted from the beginning of the periodic work.
    mutating func backOff(_ delay: Duration, hint: Duration = .zero, at now: Duration) {
        let (delay, earliest) = (max(interval, delay.saturated), now.saturatingAdding(max(.zero, hint)))
        switch timing {
        case .fixedDelay: due = max(now.saturatingAdding(delay), earliest)
        case .fixedRate: due = firstTime(notBefore: max(earliest, due + delay))
        }
    }

    /// Returns the last time, not after `time`, that is a whole number of intervals after the planned time (``due``).
    /// If ``due`` is later than `time`, returns ``due``.
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

    /// Returns the first time, not before `time`, that is a whole number of intervals, at least one, after the planned
    /// time (``due``).
    private func firstTime(notBefore time: Duration) -> Duration {
        let last = lastTime(notAfter: time)
        return last == due || last < time ? last + interval : last
    }
}
