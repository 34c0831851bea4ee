package import TaskControl

extension AsyncLifetime {
    /// Adds a task that does work at the times of a plan, until the lifetime ends, the plan ends, or the work has no owner
    /// left.
    ///
    /// - Parameters:
    ///   - plan: The times.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - clock: Measures the times. If its `sleep` throws an error, the task ends, and the error is reported.
    ///   - work: The work, and what happens with its errors.
    package func addTicks<Plan: TickPlan>(
        _ plan: Plan,
        name: String?,
        priority: TaskPriority?,
        clock: some Clock<Duration>,
        _ work: TickWork<Plan.Tick>
    ) -> Task<Void, Never> {
        let loop = TickLoop(stopwatch: Stopwatch(clock), work: work)
        // A shutdown refuses first: no tick begins in its grace. The ticks themselves are cancelled with the task.
        let registration = onEnd { if case .refuses = $0 { loop.end.refuse() } }
        let task = addTask(name: name, priority: priority) {
            await withoutCallersContext { await loop.run(plan, name) }
            withExtendedLifetime(registration) {}
        }
        loop.end.attach(task)
        return task
    }
}

/// The loop of one call of `every`: sleeps until each tick, and then calls the work.
private struct TickLoop<Tick: Sendable>: Sendable {
    let stopwatch: Stopwatch
    let work: TickWork<Tick>
    let end = PeriodicEnd()

    private static var origin: TaskOrigin { TaskOrigin("AsyncLifetime.every", .every, isForOwner: true) }

    private var now: Duration { stopwatch.now }

    func run<Plan: TickPlan>(_ plan: Plan, _ name: String?) async where Plan.Tick == Tick {
        var plan = plan
        let events = CallEvents.begin(.every, .started, .waiting, ownerName: name)
        var count = 0
        while let tick = await nextTick(of: &plan) {
            count += 1
            events?.emit(.ticked, .entered(.running), attempt: count)
            do {
                guard try await work.perform(tick) else { break }
                plan.succeed(at: now)
                events?.emit(.waiting, .entered(.waiting), attempt: count)
            } catch {
                let settlement = await settle(error, in: Self.origin) { await work.handle(error) }
                if Task.isCancelled || settlement == .ownerReleased { break }
                events?.emit(.failed, error: error, attempt: count)
                guard let delay = plan.fail(with: error, at: now) else { break }
                events?.emit(.waiting, .entered(.waiting), attempt: count, delay: delay)
            }
        }
        let isCancelled = Task.isCancelled
        events?.end(isCancelled ? .stopped : .completed, isCancelled ? .cancelled : .completed)
    }

    /// Sleeps until the next tick.
    ///
    /// - Returns: The tick; `nil` if no tick follows, because the task is cancelled, the lifetime is being shut down, or
    ///   the clock cannot sleep.
    private func nextTick<Plan: TickPlan>(of plan: inout Plan) async -> Tick? where Plan.Tick == Tick {
        while !Task.isCancelled {
            switch plan.step(at: now) {
            case .begin(let tick):
                return end.sleep(false) ? tick : nil
            case .sleep(let time):
                guard end.sleep(true) else { return nil }
                do {
                    try await stopwatch.sleep(until: time)
                } catch {
                    // A clock that cannot sleep would make the ticks follow each other without a pause.
                    if !Task.isCancelled { await settle(error, in: Self.origin, handler: nil) }
                    return nil
                }
            }
        }
        return nil
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

/// A weak reference to the object to which periodic or supervised work delivers.
struct TickOwner<Owner: AnyObject & Sendable>: Sendable {
    private weak let owner: Owner?

    init(_ owner: Owner) { self.owner = owner }

    var exists: Bool { owner != nil }

    /// Calls a closure with the owner and a value, unless the owner was deallocated. The owner is retained only until the
    /// closure returns.
    ///
    /// - Returns: Whether the closure was called.
    /// - Throws: The error of the closure; `CancellationError` if the task was cancelled before the closure could begin in its
    ///   isolation.
    func hand<Value: Sendable>(
        _ value: Value,
        _ receiver: @isolated(any) @Sendable (Owner, Value) async throws -> Void,
        isolation: isolated (any Actor)?
    ) async throws -> Bool {
        try await hand(isolation: isolation) { try await receiver($0, value) }
    }

    /// Calls a closure with the owner in an isolation, unless the owner was deallocated.
    ///
    /// - Returns: Whether the closure was called.
    /// - Throws: The error of the closure; `CancellationError` if the task was cancelled before the closure could begin.
    func hand(isolation: isolated (any Actor)?, _ body: (Owner) async throws -> Void) async throws -> Bool {
        try Task.checkCancellation()
        guard let owner else { return false }
        try await body(owner)
        return true
    }
}

/// The times of periodic work, for the loop of `every`: regular intervals, or the times of a calendar.
package protocol TickPlan: Sendable {
    /// A value that describes a tick to the work.
    associatedtype Tick: Sendable

    /// Returns what follows. `now` is the time since the beginning of the periodic work.
    mutating func step(at now: Duration) -> TickStep<Tick>

    /// Records that the work of a tick has succeeded.
    mutating func succeed(at now: Duration)

    /// Records that the work of a tick has failed.
    ///
    /// - Returns: The time until the next tick, for diagnostics; `nil` if there must be no further tick.
    mutating func fail(with error: any Error, at now: Duration) -> Duration?
}

/// The next step of the loop of `every`.
package enum TickStep<Tick: Sendable>: Sendable {
    /// Sleeps until a time since the beginning, and asks again.
    case sleep(until: Duration)
    /// Does the work.
    case begin(Tick)
}
