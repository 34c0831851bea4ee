public import TaskControl

extension AsyncLifetime {
    /// Does work at regular times, called ticks, without the owner, and passes the owner each result, until the lifetime
    /// ends or the owner is deallocated.
    ///
    /// ```swift
    /// lifetime.every(.seconds(30), jitter: 0.1, for: model) {
    ///     try await api.fetchFeed()
    /// } deliver: { model, items in
    ///     model.show(items)
    /// }
    /// ```
    ///
    /// The owner is retained while `deliver` or `onError` runs, and neither while the work runs nor between two ticks: if
    /// nothing else retains it, it is deallocated at once. If the lifetime belongs to the owner, the work is then
    /// cancelled. Otherwise, the task ends at the next result, or at the next tick.
    ///
    /// While the work fails, the ticks can be further apart: see `backoff`. The first success restores the interval.
    ///
    /// ## Ordering
    /// The work never overlaps itself: a tick begins when `deliver` of the previous tick has returned.
    ///
    /// ## Cancellation
    /// The end of the lifetime cancels the work, and no tick follows. After `shutdown(grace:)` of the lifetime, no tick
    /// begins either, but work that has begun can continue until the grace period is over. The result of work that was
    /// cancelled is not delivered. An error that the work throws after it was cancelled is part of the cancellation, and
    /// is not passed to `onError`. A `CancellationError` that the work throws without being cancelled is a failure like
    /// others.
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
    ///     error that conforms to `RetryAdvising` can make the time longer.
    ///   - owner: The owner, which is retained only while it receives a result or an error.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - clock: Measures the times. If its `sleep` throws an error, the task ends, and the error is reported to
    ///     diagnostics.
    ///   - generator: The source of the random numbers for the jitter.
    ///   - work: The work. Runs on no actor, with the task-locals of the code that calls this function. A deadline of
    ///     that code (see `withDeadline`) does not apply to the work. It must not capture the owner: list in its capture
    ///     list what it needs of the owner.
    ///   - deliver: Receives the owner and the result, in the isolation of the code that calls this function.
    ///   - onError: Receives the owner and each error that the work throws before it is cancelled, in the isolation of
    ///     the code that calls this function. Without `onError`, these errors are reported to diagnostics.
    /// - Returns: The task of the periodic work. Cancelling the task ends the work. If the lifetime is closed, the task
    ///   is cancelled from the beginning and does nothing.
    /// - Complexity: O(1) per tick, regardless of the number of missed ticks, except with ``MissedTicks/all``.
    @discardableResult
    public func every<Owner: AnyObject & Sendable, Value: Sendable>(
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
        work: @escaping @Sendable () async throws -> Value,
        @_inheritActorContext deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)? = nil
    ) -> Task<Void, Never> {
        let machine = PeriodicStateMachine(interval: interval, timing: timing, first: initialDelay ?? interval)
        let plan = IntervalPlan(machine, jitter: jitter, backoff: backoff, generator)
        let work = TickWork<Void>(for: owner, { try await work() }, deliver: deliver, onError: onError)
        return addTicks(plan, name: name, priority: priority, clock: clock, work)
    }

    /// Lets an owner do work at regular times, called ticks, until the lifetime ends or the owner is deallocated.
    ///
    /// ```swift
    /// lifetime.every(.seconds(900), for: model) { model in
    ///     model.show([])
    /// }
    /// ```
    ///
    /// The owner is retained while the closure or `onError` runs, and not between two ticks. Use
    /// ``every(_:timing:jitter:initialDelay:backoff:for:name:priority:clock:using:work:deliver:onError:)`` for work that waits, such as
    /// a request: it does not retain the owner. Ordering, cancellation and the other parameters are the same.
    ///
    /// - Parameters:
    ///   - interval: The time between the ticks. Less than a nanosecond counts as a nanosecond.
    ///   - timing: The rule for the times of the ticks.
    ///   - jitter: The largest part of the interval, from 0 to 1, by which each tick is randomly late.
    ///   - initialDelay: The time until the first tick. By default one interval.
    ///   - backoff: The time from a failed tick to the next tick, at least one interval.
    ///   - owner: The owner. Held weakly, except while it works or receives an error.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - clock: Measures the times.
    ///   - generator: The source of the random numbers for the jitter.
    ///   - perform: Receives the owner at each tick. Runs in the isolation and with the task-locals of the code that calls this
    ///     function, without its deadline.
    ///   - onError: Receives the owner and each error that `perform` throws before it is cancelled. Runs like `perform`. Without
    ///     `onError`, these errors are reported to diagnostics.
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
        let plan = IntervalPlan(machine, jitter: jitter, backoff: backoff, generator)
        let work = TickWork<Void>(
            of: owner,
            isolation: perform.isolation,
            { owner, _ in try await perform(owner) },
            onError: onError
        )
        return addTicks(plan, name: name, priority: priority, clock: clock, work)
    }

    /// Does work at regular times, called ticks, until the lifetime ends. The closure is retained until then: an object
    /// that owns the lifetime must not be captured, or only weakly.
    ///
    /// ```swift
    /// lifetime.every(.seconds(30), jitter: 0.1, name: "heartbeat") {
    ///     try await server.heartbeat()
    /// }
    /// ```
    ///
    /// Use ``every(_:timing:jitter:initialDelay:backoff:for:name:priority:clock:using:work:deliver:onError:)`` for work
    /// whose results an object receives. Ordering, cancellation and the other parameters are the same.
    ///
    /// - Parameters:
    ///   - interval: The time between the ticks. Less than a nanosecond counts as a nanosecond.
    ///   - timing: The rule for the times of the ticks.
    ///   - jitter: The largest part of the interval, from 0 to 1, by which each tick is randomly late.
    ///   - initialDelay: The time until the first tick. By default one interval.
    ///   - backoff: The time from a failed tick to the next tick, at least one interval.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - clock: Measures the times.
    ///   - generator: The source of the random numbers for the jitter.
    ///   - work: The work. Runs in the isolation and with the task-locals of the code that calls this function. A deadline
    ///     of that code (see `withDeadline`) does not apply to the work.
    ///   - onError: Receives each error that the work throws before it is cancelled, in the isolation of the code that
    ///     calls this function. Without `onError`, these errors are reported to diagnostics.
    /// - Returns: The task of the periodic work. Cancelling the task ends the work. If the lifetime is closed, the task
    ///   is cancelled from the beginning and does nothing.
    /// - Complexity: O(1) per tick, regardless of the number of missed ticks, except with ``MissedTicks/all``.
    @discardableResult
    public func every(
        _ interval: Duration,
        timing: PeriodicTiming = .fixedRate(),
        jitter: Double = 0,
        initialDelay: Duration? = nil,
        backoff: RetryBackoff? = nil,
        name: String? = nil,
        priority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        using generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        @_inheritActorContext work: @escaping @isolated(any) @Sendable () async throws -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (any Error) async -> Void)? = nil
    ) -> Task<Void, Never> {
        let machine = PeriodicStateMachine(interval: interval, timing: timing, first: initialDelay ?? interval)
        let plan = IntervalPlan(machine, jitter: jitter, backoff: backoff, generator)
        let work = TickWork<Void>(isolation: work.isolation, { try await work() }, onError: onError)
        return addTicks(plan, name: name, priority: priority, clock: clock, work)
    }
}
