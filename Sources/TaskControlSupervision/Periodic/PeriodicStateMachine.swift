internal import TaskControl

/// The times of periodic work. Pure: times are durations since the beginning.
///
/// With a fixed rate, each time is the first one plus a multiple of the interval. The sums are exact, so there is no drift.
struct PeriodicStateMachine {
    let interval: Duration
    private let timing: PeriodicTiming
    /// The time for which the next tick is planned, without jitter.
    private(set) var due: Duration
    /// The number of failures since the last success.
    private(set) var failures = 0

    /// - Parameters:
    ///   - interval: Less than a nanosecond is a nanosecond.
    ///   - first: When the first tick is due.
    init(interval: Duration, timing: PeriodicTiming, first: Duration) {
        self.interval = max(.nanoseconds(1), interval).saturated
        self.timing = timing
        due = max(.zero, first).saturated
    }

    /// A tick begins: at its time, or later.
    mutating func begin(at now: Duration) {
        switch timing {
        case .fixedDelay, .fixedRate(.all): break
        // Ticks that were missed before this one are part of it.
        case .fixedRate: due = lastTime(notAfter: now)
        }
    }

    /// The tick has succeeded.
    mutating func succeed(at now: Duration) {
        failures = 0
        switch timing {
        case .fixedDelay: due = now.saturatingAdding(interval)
        case .fixedRate(.skip): due = firstTime(notBefore: now)
        case .fixedRate(.once): due = max(due + interval, lastTime(notAfter: now))
        case .fixedRate(.all): due += interval
        }
    }

    /// The tick has failed.
    ///
    /// - Returns: The number of failures in a row. ``backOff(_:at:)`` follows.
    mutating func fail() -> Int {
        failures += 1
        return failures
    }

    /// Plans the next tick after a failure: a delay after the failed one, at least an interval. Ticks that were missed meanwhile are left out.
    ///
    /// - Parameter hint: The time from now for which a server asked to receive no further call, which may be longer.
    mutating func backOff(_ delay: Duration, hint: Duration = .zero, at now: Duration) {
        let (delay, earliest) = (max(interval, delay.saturated), now.saturatingAdding(max(.zero, hint)))
        switch timing {
        case .fixedDelay: due = max(now.saturatingAdding(delay), earliest)
        case .fixedRate: due = firstTime(notBefore: max(earliest, due + delay))
        }
    }

    /// The last planned time that is not after a time; the current one if that is later.
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

    /// The first planned time after the current one that is not before a time.
    private func firstTime(notBefore time: Duration) -> Duration {
        let last = lastTime(notAfter: time)
        return last == due || last < time ? last + interval : last
    }
}
