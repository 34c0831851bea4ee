public import TaskControl

extension AsyncLifetime {
    /// Does work at regular times, called ticks, until the lifetime ends or the owner is deallocated.
    ///
    /// ```swift
    /// lifetime.every(.seconds(30), jitter: 0.1, for: self) { model in
    ///     try await model.refresh()
    /// }
    /// ```
    ///
    /// The owner is retained while the work runs, and not between two ticks. If the owner is deallocated before the
    /// lifetime ends, the task ends at the next tick.
    ///
    /// While the work fails, the ticks can be further apart: see `backoff`. The first success restores the interval.
    ///
    /// ## Ordering
    /// The work never overlaps itself.
    ///
    /// ## Cancellation
    /// The end of the lifetime cancels the work, and no tick follows. After `shutdown(grace:)` of the lifetime, no tick
    /// begins either, but work that has begun can continue until the grace period is over. An error that the work
    /// throws after it was cancelled is part of the cancellation, and is not passed to `onError`. A `CancellationError`
    /// that the work throws without being cancelled is a failure like others.
    ///
    /// - Parameters:
    ///   - interval: The time between the ticks. Less than a nanosecond counts as a nanosecond.
    ///   - timing: The rule for the times of the ticks. By default, the ticks have a fixed rate, and missed ticks (see
    ///     ``MissedTicks``) are left out.
    ///   - jitter: The largest part of the interval, from 0 to 1, by which each tick is randomly late, so that many
    ///     devices do not do the work at the same moment. With a fixed rate, the delay of a tick does not change the
    ///     times of later ticks. By default 0. More than 1 counts as 1, and less than 0 as 0.
    ///   - initialDelay: The time until the first tick. By default one interval; with zero, the first tick is due at once.
    ///   - backoff: The time from a failed tick to the next tick, at least one interval; the ticks between them are
    ///     left out. By default, the time is one interval after the first failure, and doubles with each further
    ///     failure in a row, up to 16 intervals. If a custom backoff returns `nil` for an error, the task ends. An
    ///     error that conforms to `RetryAfterProviding` can make the time longer.
    ///   - owner: The owner, which is not retained between two ticks.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - clock: Measures the times. If its `sleep` throws an error, the task ends, and the error is reported to
    ///     diagnostics.
    ///   - generator: The source of the random numbers for the jitter.
    ///   - perform: The work, which receives the owner. Runs in the isolation and with the task-locals of the code that
    ///     calls this function. A deadline of that code (see `withDeadline`) does not apply to the work.
    ///   - onError: Receives the owner and each error that the work throws before it is cancelled, in the isolation of
    ///     the code that calls this function. Without `onError`, these errors are reported to diagnostics.
    /// - Returns: The task of the periodic work. Cancelling the task ends the work. If the lifetime is closed, the task
    ///   is cancelled from the beginning and does nothing.
    /// - Complexity: O(1) per tick, regardless of the number of missed ticks, except with ``MissedTicks/all``.
    @discardableResult
    public func every<Owner: AnyObject & Sendable>(
        _ interval: Duration,
        timing: PeriodicTiming = .fixedRate(),
        jitter: Double = 0,
        initialDelay: Duration? = nil,
        backoff: RetryBackoff? = nil,
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        using generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        @_inheritActorContext perform: @escaping @isolated(any) @Sendable (Owner) async throws -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)? = nil
    ) -> Task<Void, Never> {
        let machine = PeriodicStateMachine(interval: interval, timing: timing, first: initialDelay ?? interval)
        let backoff = backoff ?? .exponential(base: machine.interval).capped(at: machine.interval * 16)
        let jitter = ComputedNumber.number(jitter, in: 0...1, default: 0, "every(jitter:)", .every)
        let ticks = Ticks(
            owner: owner,
            stopwatch: Stopwatch(clock),
            jitter: machine.interval.saturatingMultiplied(by: jitter),
            backoff: backoff,
            perform: perform,
            onError: onError
        )
        // A shutdown refuses first: no tick begins in its grace.
        let registration = onRefusal { ticks.end.refuse() }
        let task = addTask(name: name, priority: priority) {
            await withoutCallersContext { await ticks.run(machine, generator, name) }
            withExtendedLifetime(registration) {}
        }
        ticks.end.attach(task)
        return task
    }
}

/// The loop of one call of `every`: sleeps until each tick, and then calls the work.
private struct Ticks<Owner: AnyObject & Sendable>: Sendable {
    weak let owner: Owner?
    let stopwatch: Stopwatch
    /// The longest time by which a tick is late at random.
    let jitter: Duration
    let backoff: RetryBackoff
    let perform: @isolated(any) @Sendable (Owner) async throws -> Void
    let onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)?
    let end = PeriodicEnd()

    private static var origin: TaskOrigin { TaskOrigin("AsyncLifetime.every", .every, isForOwner: true) }

    private var now: Duration { stopwatch.now }

    func run(_ machine: PeriodicStateMachine, _ generator: some RandomNumberGenerator, _ name: String?) async {
        var (machine, generator, schedule) = (machine, generator, RetrySchedule(backoff))
        let events = CallEvents.begin(.every, .started, .waiting, ownerName: name)
        var tick = 0
        while !Task.isCancelled {
            guard end.sleep(true) else { break }
            do {
                try await stopwatch.sleep(until: machine.due.saturatingAdding(delay(&generator)))
            } catch {
                // A clock that cannot sleep would make the ticks follow each other without a pause.
                if !Task.isCancelled { await settle(error, in: Self.origin, handler: nil) }
                break
            }
            guard end.sleep(false), !Task.isCancelled else { break }
            machine.begin(at: now)
            tick += 1
            events?.emit(.ticked, .entered(.running), attempt: tick)
            do {
                guard try await work(isolation: perform.isolation) else { break }
                machine.succeed(at: now)
                events?.emit(.waiting, .entered(.waiting), attempt: tick)
            } catch {
                await settle(error, in: Self.origin) { await handle(error) }
                if Task.isCancelled { break }
                let failures = machine.fail()
                if failures == 1 { schedule = RetrySchedule(backoff) }
                events?.emit(.failed, error: error, attempt: tick)
                guard let delay = schedule.delay(afterAttempt: failures, error: error, hint: nil) else { break }
                machine.backOff(delay, hint: (error as? any RetryAfterProviding)?.retryAfter ?? .zero, at: now)
                events?.emit(.waiting, .entered(.waiting), attempt: tick, delay: machine.due - now)
            }
        }
        let isCancelled = Task.isCancelled
        events?.end(isCancelled ? .stopped : .completed, isCancelled ? .cancelled : .completed)
    }

    /// Returns a random time from zero to `jitter`.
    private func delay(_ generator: inout some RandomNumberGenerator) -> Duration {
        if jitter == .zero { return .zero }
        // 53 random bits, as many as a Double holds: less than 1. The numbers of `Double.random` may change with the standard library.
        return jitter.saturatingMultiplied(by: Double(generator.next() >> 11) * 0x1p-53)
    }

    /// Calls the work once, in its isolation, unless the owner was deallocated.
    ///
    /// - Returns: Whether the work was called: `false` if the owner was deallocated.
    /// - Throws: The error of the work; `CancellationError` if the task was cancelled before the work began.
    private func work(isolation: isolated (any Actor)?) async throws -> Bool {
        // Checked in the isolation of the work, so that a cancellation before the work begins there counts.
        try Task.checkCancellation()
        guard let owner else { return false }
        try await perform(owner)
        return true
    }

    private func handle(_ error: any Error) async -> Bool {
        guard let onError, let owner else { return false }
        await onError(owner, error)
        return true
    }
}

/// The state by which the shutdown of a lifetime ends periodic work: immediately if the work sleeps, otherwise after
/// the current tick.
private final class PeriodicEnd: Sendable {
    private struct State {
        var isRefused = false
        var isAsleep = true
        var task: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// Records that the loop begins to sleep until the next tick (`true`), or has slept (`false`).
    ///
    /// - Returns: Whether the loop continues: `false` if the lifetime is being shut down.
    func sleep(_ isAsleep: Bool) -> Bool {
        state.withLock { state in
            state.isAsleep = isAsleep
            return !state.isRefused
        }
    }

    func attach(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            state.task = task
            return state.isRefused && state.isAsleep
        }
        if isOver { task.cancel() }
    }

    func refuse() {
        let task = state.withLock { state in
            state.isRefused = true
            return state.isAsleep ? state.task : nil
        }
        task?.cancel()
    }
}
