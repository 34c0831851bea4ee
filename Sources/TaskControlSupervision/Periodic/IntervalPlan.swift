internal import TaskControl

/// The times of `every` with an interval: those of a ``PeriodicStateMachine``, each with a random delay, and further
/// apart while the work fails.
struct IntervalPlan<Generator: RandomNumberGenerator & Sendable>: TickPlan {
    private var machine: PeriodicStateMachine
    private var generator: Generator
    /// The longest time by which a tick is late at random.
    private let jitter: Duration
    private let backoff: RetryBackoff
    private var schedule: RetrySchedule
    /// Whether the sleep until the tick that is due is over.
    private var hasSlept = false

    init(_ machine: PeriodicStateMachine, jitter: Double, backoff: RetryBackoff?, _ generator: Generator) {
        self.machine = machine
        self.generator = generator
        let jitter = ComputedNumber.number(jitter, in: 0...1, default: 0, "every(jitter:)", .every)
        self.jitter = machine.interval.saturatingMultiplied(by: jitter)
        self.backoff = backoff ?? .exponential(base: machine.interval).capped(at: machine.interval * 16)
        schedule = RetrySchedule(self.backoff)
    }

    mutating func step(at now: Duration) -> TickStep<Void> {
        hasSlept.toggle()
        if hasSlept { return .sleep(until: machine.due.saturatingAdding(delay())) }
        machine.begin(at: now)
        return .begin(())
    }

    mutating func succeed(at now: Duration) { machine.succeed(at: now) }

    mutating func fail(with error: any Error, at now: Duration) -> Duration? {
        let failures = machine.fail()
        if failures == 1 { schedule = RetrySchedule(backoff) }
        guard let delay = schedule.delay(afterAttempt: failures, error: error, hint: nil) else { return nil }
        machine.backOff(delay, hint: (error as? any RetryAdvising)?.retryAfter ?? .zero, at: now)
        return machine.due - now
    }

    /// Returns a random time from zero to `jitter`.
    private mutating func delay() -> Duration {
        if jitter == .zero { return .zero }
        // 53 random bits, as many as a Double holds: less than 1. The numbers of `Double.random` may change with the standard library.
        return jitter.saturatingMultiplied(by: Double(generator.next() >> 11) * 0x1p-53)
    }
}
