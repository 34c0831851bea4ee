public import Foundation
public import TaskControl
public import TaskControlSupervision

extension AsyncLifetime {
    /// Does work at the times of a calendar, without the owner, and passes the owner each result, until the lifetime ends
    /// or the owner is deallocated.
    ///
    /// ```swift
    /// lifetime.every(.week(on: [.monday], at: "09:00", in: .current), for: model) { _ in
    ///     try await api.fetchFeed()
    /// } deliver: { model, items in
    ///     model.show(items)
    /// }
    /// ```
    ///
    /// The owner is retained while `deliver` or `onError` runs, and neither while the work runs nor between two ticks: if
    /// nothing else retains it, it is deallocated at once.
    ///
    /// The wall clock is read again after each minute. Therefore a change of the clock, of the time zone
    /// (`TimeZone.autoupdatingCurrent`), and the end of a device's sleep are noticed within a minute of the time that the
    /// process runs. A process that is suspended or has ended does no work: use the system's scheduler for that.
    ///
    /// ## Clock changes
    /// - ``CalendarSchedule`` says what happens to times that a day lacks or has twice.
    /// - A clock that is set forward misses the times in between: see `MissedTicks`.
    /// - A clock that is set back by up to three hours repeats no time. A clock that is set back by more was wrong before:
    ///   the times of the new clock count, as in `cron`.
    ///
    /// ## Ordering
    /// The work never overlaps itself. A time that passes while the work runs is handled when `deliver` has returned: at
    /// once if it has passed by a minute at most, and otherwise as `missed` says.
    ///
    /// ## Cancellation
    /// The same as in `every` of `TaskControlSupervision` with an interval: the end of the lifetime cancels the work, and
    /// the result of work that was cancelled is not delivered.
    ///
    /// - Parameters:
    ///   - schedule: The times.
    ///   - missed: The rule for times that were missed by more than a minute. By default, the work begins once for all
    ///     of them. The times before the call of this function do not count.
    ///   - owner: The owner, which is retained only while it receives a result or an error.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - clock: Sleeps until the next time, or for a minute. It should continue while the machine sleeps, as the
    ///     default does. If its `sleep` throws an error, the task ends, and the error is reported to diagnostics.
    ///   - wallClock: Returns the date. By default the system's clock; a test can pass dates that it sets.
    ///   - work: The work, which receives the tick. Runs on no actor, with the task-locals of the code that calls this
    ///     function. It must not capture the owner.
    ///   - deliver: Receives the owner and the result, in the isolation of the code that calls this function.
    ///   - onError: Receives the owner and each error that the work throws before it is cancelled. The next tick is at the
    ///     next time of the schedule: to repeat failed work earlier, use `retry` inside it. Without `onError`, these errors
    ///     are reported to diagnostics.
    /// - Returns: The task of the periodic work. Cancelling the task ends the work. If the lifetime is closed, the task
    ///   is cancelled from the beginning and does nothing.
    @discardableResult
    public func every<Owner: AnyObject & Sendable, Value: Sendable>(
        _ schedule: CalendarSchedule,
        missed: MissedTicks = .once,
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        wallClock: @escaping @Sendable () -> Date = { Date() },
        work: @escaping @Sendable (CalendarSchedule.Tick) async throws -> Value,
        @_inheritActorContext deliver: @escaping @isolated(any) @Sendable (Owner, Value) async -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)? = nil
    ) -> Task<Void, Never> {
        let plan = CalendarPlan(schedule, missed: missed, wallClock: wallClock)
        let work = TickWork<CalendarSchedule.Tick>(for: owner, work, deliver: deliver, onError: onError)
        return addTicks(plan, name: name, priority: priority, clock: clock, work)
    }

    /// Lets an owner do work at the times of a calendar, until the lifetime ends or the owner is deallocated.
    ///
    /// ```swift
    /// lifetime.every(.day(at: "02:00", in: .gmt), for: model) { model, tick in
    ///     model.show([])
    /// }
    /// ```
    ///
    /// The owner is retained while the closure or `onError` runs, and not between two ticks. Use
    /// ``every(_:missed:for:name:priority:clock:wallClock:work:deliver:onError:)`` for work that waits: it does not retain the owner. Its
    /// documentation describes clock changes, the order, and cancellation.
    ///
    /// - Parameters:
    ///   - schedule: The times.
    ///   - missed: The rule for times that were missed by more than a minute.
    ///   - owner: The owner. Held weakly, except while it works or receives an error.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - clock: Sleeps until the next time, or for a minute.
    ///   - wallClock: Returns the date. By default the system's clock; a test can pass dates that it sets.
    ///   - perform: Receives the owner and the tick. Runs in the isolation and with the task-locals of the code that calls this
    ///     function, without its deadline.
    ///   - onError: Receives the owner and each error that `perform` throws before it is cancelled. Runs like `perform`. Without
    ///     `onError`, these errors are reported to diagnostics.
    /// - Returns: The task of the work. Cancelling the task ends the work. If the lifetime is closed, the task is cancelled from the
    ///   beginning and does nothing.
    @discardableResult
    public func every<Owner: AnyObject & Sendable>(
        _ schedule: CalendarSchedule,
        missed: MissedTicks = .once,
        for owner: Owner,
        name: String? = nil,
        priority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        wallClock: @escaping @Sendable () -> Date = { Date() },
        @_inheritActorContext perform:
            @escaping @isolated(any) @Sendable (Owner, CalendarSchedule.Tick) async throws -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (Owner, any Error) async -> Void)? = nil
    ) -> Task<Void, Never> {
        let plan = CalendarPlan(schedule, missed: missed, wallClock: wallClock)
        let work = TickWork<CalendarSchedule.Tick>(
            of: owner,
            isolation: perform.isolation,
            { try await perform($0, $1) },
            onError: onError
        )
        return addTicks(plan, name: name, priority: priority, clock: clock, work)
    }

    /// Does work at the times of a calendar until the lifetime ends. The closure is retained until then: an object that
    /// owns the lifetime must not be captured, or only weakly.
    ///
    /// ```swift
    /// lifetime.every(.day(at: "02:00", in: .gmt), name: "nightly") { tick in
    ///     try await runOnce("nightly report", for: tick.period, in: MemoryStore()) { _ in try await server.heartbeat() }
    /// }
    /// ```
    ///
    /// Use ``every(_:missed:for:name:priority:clock:wallClock:work:deliver:onError:)`` for work whose results an object
    /// receives. Its documentation describes clock changes, the order, and cancellation.
    ///
    /// - Parameters:
    ///   - schedule: The times.
    ///   - missed: The rule for times that were missed by more than a minute.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - clock: Sleeps until the next time, or for a minute.
    ///   - wallClock: Returns the date. By default the system's clock.
    ///   - work: The work, which receives the tick. Runs in the isolation and with the task-locals of the code that calls
    ///     this function. A deadline of that code (see `withDeadline`) does not apply to the work.
    ///   - onError: Receives each error that the work throws before it is cancelled, in the isolation of the code that
    ///     calls this function. Without `onError`, these errors are reported to diagnostics.
    /// - Returns: The task of the periodic work. Cancelling the task ends the work. If the lifetime is closed, the task
    ///   is cancelled from the beginning and does nothing.
    @discardableResult
    public func every(
        _ schedule: CalendarSchedule,
        missed: MissedTicks = .once,
        name: String? = nil,
        priority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        wallClock: @escaping @Sendable () -> Date = { Date() },
        @_inheritActorContext work: @escaping @isolated(any) @Sendable (CalendarSchedule.Tick) async throws -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (any Error) async -> Void)? = nil
    ) -> Task<Void, Never> {
        let plan = CalendarPlan(schedule, missed: missed, wallClock: wallClock)
        let work = TickWork<CalendarSchedule.Tick>(isolation: work.isolation, { try await work($0) }, onError: onError)
        return addTicks(plan, name: name, priority: priority, clock: clock, work)
    }
}
