/// A semaphore that limits how many callers do something at the same time: each of them must hold a permit.
///
/// ```swift
/// let connections = AsyncSemaphore(value: 4)
///
/// let page = try await connections.withPermit {     // a fifth caller waits here, without blocking a thread
///     try await fetch(url)
/// }
/// ```
///
/// Large work can take several permits at once: `withPermits(3) { … }`. To hold a permit for longer than a function
/// runs, use ``acquirePermit(_:)``, which returns the permit as a value.
///
/// Safe to use from any thread and any isolation.
///
/// Related types: a ``ConcurrentQueue`` creates tasks that begin in order, detects re-entrancy, and escalates the
/// priority of the tasks that an urgent task waits for. A semaphore can neither detect re-entrancy nor escalate
/// priorities, because permits have no owner: one task may release permits that another has acquired. A caller that
/// holds a permit and acquires another permit of the same semaphore waits forever if none becomes available.
///
/// ## Ordering
/// Permits are granted strictly in the order of the calls, regardless of priorities. No caller overtakes another, not
/// even with a smaller request, so a large request is eventually granted. Go's `semaphore.Weighted` has the same rules.
///
/// ## Cancellation
/// A cancelled caller stops waiting immediately, and the other callers keep their order. A permit that is granted to
/// the cancelled caller at the same moment is released.
public final class AsyncSemaphore: Sendable {
    private let permits: PermitStorage
    private let value: Int
    /// The name shown in diagnostics; `nil` if the semaphore has none.
    public var name: String? { source.name }
    let source: EventSource

    /// Creates a semaphore with a number of permits, all of which are available.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics; `nil` for none.
    ///   - value: The number of permits. With 0, every caller waits until it is cancelled. A negative number counts as 0.
    public init(name: String? = nil, value: Int) {
        let value = ComputedNumber.count(value, atLeast: 0, "AsyncSemaphore(value:)", .asyncSemaphore)
        source = EventSource(.asyncSemaphore, name: name)
        self.value = value
        permits = PermitStorage(size: value)
        source.emit(.created, count: value)
    }

    deinit {
        permits.deallocate()
        source.emit(.deallocated)
    }

    /// The number of available permits. It may have changed by the time the caller uses it.
    public var available: Int { permits.available }

    /// The number of waiting callers. It may have changed by the time the caller uses it.
    public var waiterCount: Int { permits.withMachine { $0.waiterCount } }

    /// Whether all permits are available, and no caller waits. It may have changed by the time the caller uses it.
    package var _isUnused: Bool { available == permits.size && waiterCount == 0 }

    /// Waits for a permit, runs `body`, and releases the permit when `body` has ended.
    ///
    /// ## Cancellation
    /// A caller that is cancelled before it has its permit stops waiting immediately, without running `body`. Once
    /// `body` runs, only `body` responds to a cancellation.
    ///
    /// - Parameter body: Runs in the caller's task and isolation.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error of `body`; `CancellationError` if the caller was cancelled before it had its permit.
    /// - Complexity: O(1), and O(*n*) in the number of callers that receive permits afterwards.
    @export(implementation)
    public nonisolated(nonsending) func withPermit<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        try await withPermits(1, body)
    }

    /// Waits for several permits, runs `body`, and releases the permits when `body` has ended.
    ///
    /// ## Cancellation
    /// A caller that is cancelled before it has its permits stops waiting immediately, without running `body`. Once
    /// `body` runs, only `body` responds to a cancellation.
    ///
    /// - Parameters:
    ///   - count: The number of permits, from 1 to the `value` that the semaphore was created with: another
    ///     number counts as the nearest of these.
    ///   - body: Runs in the caller's task and isolation.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error of `body`; `CancellationError` if the caller was cancelled before it had its permits.
    /// - Complexity: O(1), and O(*n*) in the number of callers that receive permits afterwards.
    @export(implementation)
    @inline(__always)
    public nonisolated(nonsending) func withPermits<Value>(
        _ count: Int,
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        let count = _permitCount(count)
        var holding = _PermitHolding.scoped
        if !_acquireAtOnce(count, &holding) { try await _acquireInLine(count, holding) }
        defer { _release(count, holding) }
        return try await body()
    }

    /// Takes a permit, or several: at once if they are available and no other caller waits; otherwise waits for the
    /// caller's turn.
    ///
    /// Each acquired permit must be released with ``release(_:)``, or it is lost forever. Prefer ``withPermit(_:)`` or
    /// ``acquirePermit(_:)``, which release their permits by themselves.
    ///
    /// ## Cancellation
    /// A cancelled caller stops waiting immediately, and receives no permit. A caller that was cancelled before the
    /// call throws, even if permits are available.
    ///
    /// - Parameter count: The number of permits, from 1 to the `value` that the semaphore was created with:
    ///   another number counts as the nearest of these.
    /// - Throws: `CancellationError` if the caller is cancelled, and no other error.
    /// - Complexity: O(1).
    public nonisolated(nonsending) func acquire(_ count: Int = 1) async throws(CancellationError) {
        let count = _permitCount(count)
        var holding = _PermitHolding.open
        if !_acquireAtOnce(count, &holding) { try await _acquireInLine(count, holding) }
    }

    /// Takes a permit, or several, within a time limit: at once if they are available and no other caller waits;
    /// otherwise waits for the caller's turn until the limit.
    ///
    /// ```swift
    /// try await connections.acquire(within: .seconds(5))
    /// defer { connections.release() }
    /// let page = try await fetch(url)
    /// ```
    ///
    /// The caller keeps its place in the line until the limit. A permit that is granted to it at the limit or later is
    /// passed on to the next caller. As with ``acquire(_:)``, each acquired permit must be released.
    ///
    /// ## Cancellation
    /// A cancelled caller stops waiting immediately, and receives no permit. A caller that was cancelled before the
    /// call throws, even if permits are available.
    ///
    /// - Parameters:
    ///   - count: The number of permits, from 1 to the `value` that the semaphore was created with: another
    ///     number counts as the nearest of these.
    ///   - limit: The time limit, measured from the call. With zero or less, such as the remaining time of a deadline
    ///     that has passed, the call does not wait: it takes the permits if they are available and no other caller
    ///     waits, and throws otherwise. A limit of more than 100 years counts as 100 years.
    ///   - clock: Measures the time.
    /// - Throws: ``TimeoutError`` if the caller does not have the permits before the limit, also if they were granted
    ///   earlier and the caller resumes at the limit or later, for example because its actor was busy; `CancellationError`
    ///   if the caller is cancelled; the error of the clock, if the clock cannot sleep.
    /// - Complexity: O(1), and O(*n*) in the number of callers that receive permits because this caller leaves the line.
    public nonisolated(nonsending) func acquire(
        _ count: Int = 1,
        within limit: Duration,
        clock: some Clock<Duration> = ContinuousClock()
    ) async throws {
        if limit <= .zero {
            try Task.checkCancellation()
            if tryAcquire(count) { return }
            throw TimeoutError(duration: limit)
        }
        let count = _permitCount(count)
        var holding = _PermitHolding.limited
        let stopwatch = Stopwatch(clock)
        if !_acquireAtOnce(count, &holding) { try await acquireInLine(count, holding, within: limit, stopwatch) }
    }

    /// Takes the permits if they are available and no other caller waits; otherwise adds the caller to the line of
    /// waiting callers. Does neither if the caller is cancelled. Does not throw, because a throwing call takes longer
    /// than acquiring an available permit.
    ///
    /// - Parameters:
    ///   - count: The number of requested permits.
    ///   - holding: Receives the ID of the waiting request, and a number for events if an observer is registered.
    /// - Returns: Whether the permits are taken. If not, the caller must call `_acquireInLine(_:_:)`.
    @usableFromInline
    package func _acquireAtOnce(_ count: Int, _ holding: inout _PermitHolding) -> Bool {
        if _isTaskCancelled { return false }
        // For an observer, the event must be numbered together with the decision, which needs the lock.
        if Diagnostics.isUnobserved, permits.take(count) { return true }
        return acquireFromMachine(count, &holding)
    }

    /// Takes a permit if that needs no lock and no event. If not, nothing has changed: a permit may be available.
    package func _takeOne() -> Bool { Diagnostics.isUnobserved && permits.take(1) }

    @inline(never)
    private func acquireFromMachine(_ count: Int, _ holding: inout _PermitHolding) -> Bool {
        let (id, moment) = permits.withMachine { ($0.acquire(count), Diagnostics.moment) }
        holding.id = id
        if let moment { emitRequest(count, &holding, isAcquired: id == nil, at: moment) }
        return id == nil
    }

    /// Waits until the permits are granted to the caller, after `_acquireAtOnce(_:_:)` has returned `false`.
    ///
    /// - Parameters:
    ///   - count: The number of permits.
    ///   - holding: The request, as `_acquireAtOnce(_:_:)` has left it.
    /// - Throws: `CancellationError` if the caller was cancelled, before it was added to the line or while it waited.
    @usableFromInline
    package nonisolated(nonsending) func _acquireInLine(_ count: Int, _ holding: _PermitHolding)
        async throws(CancellationError)
    {
        guard let id = holding.id else { throw CancellationError() }
        let outcome = await waitInLine(id)
        guard outcome == .left || Task.isCancelled else { return emitAcquired(count, holding) }
        leave(count, holding, outcome)
        throw CancellationError()
    }

    /// Waits until the permits are granted to the caller, or the time limit has passed, after `_acquireAtOnce(_:_:)` has
    /// returned `false`.
    ///
    /// - Parameters:
    ///   - count: The number of permits.
    ///   - holding: The request, as `_acquireAtOnce(_:_:)` has left it.
    ///   - limit: The time limit.
    ///   - stopwatch: Measures the time since the call.
    private nonisolated(nonsending) func acquireInLine(
        _ count: Int,
        _ holding: _PermitHolding,
        within limit: Duration,
        _ stopwatch: Stopwatch
    ) async throws {
        guard let id = holding.id else { throw CancellationError() }
        let (outcome, isLate, failure) = await withTaskGroup(of: (any Error)?.self) { group in
            group.addTask { await self.endWait(of: id, after: limit, stopwatch) }
            let outcome = await waitInLine(id)
            // The clock decides, since the limit's own task may not have had a thread, and here, since that task may end late.
            let isLate = outcome == .left || stopwatch.now >= limit
            group.cancelAll()
            return (outcome, isLate, await group.next() ?? nil)
        }
        guard isLate || Task.isCancelled else { return emitAcquired(count, holding) }
        leave(count, holding, outcome, isLate: isLate && !Task.isCancelled)
        try Task.checkCancellation()
        if outcome == .left, let failure { throw failure }
        throw TimeoutError(duration: limit)
    }

    /// Ends the wait of a caller when a time limit has passed, or when the clock cannot sleep.
    ///
    /// - Returns: The error of the clock; `nil` if there is none.
    private nonisolated(nonsending) func endWait(
        of id: PermitStorage.Machine.ID,
        after limit: Duration,
        _ stopwatch: Stopwatch
    ) async -> (any Error)? {
        var failure: (any Error)?
        do {
            try await stopwatch.sleep(until: limit)
        } catch {
            // The wait has ended, or the caller was cancelled.
            if Task.isCancelled { return nil }
            failure = error
        }
        for waiter in leaveLine(id) { waiter.resume(returning: .reached) }
        return failure
    }

    /// Waits until the permits of a waiting request are granted. If the caller is cancelled, it leaves the line.
    @inline(__always)
    private nonisolated(nonsending) func waitInLine(_ id: PermitStorage.Machine.ID) async -> WaitOutcome {
        await suspend { waiter in
            permits.withMachine { $0.park(id, Word(waiter)) }
        } onCancel: {
            let granted = leaveLine(id)
            guard !granted.isEmpty else { return }
            wakeOutsideHandler {
                for waiter in granted { waiter.resume(returning: .reached) }
            }
        }
    }

    /// Removes a waiting request from the line, and resumes its caller.
    ///
    /// - Returns: The callers that now have their permits, and must be resumed.
    private func leaveLine(_ id: PermitStorage.Machine.ID) -> [Word] {
        let leaving = permits.withMachine { $0.leave(id) }
        leaving.waiter?.resume(returning: .left)
        return leaving.granted
    }

    /// Completes the departure of a caller that was cancelled, or whose time limit has passed.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the wait. If the permits were granted, they are passed on.
    ///   - isLate: Whether the time limit has passed, and not the caller was cancelled.
    private func leave(_ count: Int, _ holding: _PermitHolding, _ outcome: WaitOutcome, isLate: Bool = false) {
        let moment = Diagnostics.moment
        if outcome == .reached { giveBack(count) }
        if !isLate { CancellationCauses.recordEndOfWait() }
        emitLeft(count, holding, isLate: isLate, at: moment)
    }

    /// Takes a permit, or several, if they are available and no caller waits for permits. Never waits.
    ///
    /// - Parameter count: The number of permits, from 1 to the `value` that the semaphore was created with:
    ///   another number counts as the nearest of these.
    /// - Returns: `true` if the caller now has the permits; `false` if nothing was taken.
    /// - Complexity: O(1).
    public func tryAcquire(_ count: Int = 1) -> Bool {
        let count = _permitCount(count)
        let isAcquired = permits.take(count) || permits.withMachine { $0.tryAcquire(count) }
        if isAcquired { source.emit(.acquired, count: count) }
        return isAcquired
    }

    /// Releases permits, and grants them to waiting callers in the order of their calls.
    ///
    /// May be called from any thread and any task, not only by the caller that acquired the permits. Permits that were
    /// acquired together may be released in parts.
    ///
    /// - Parameter count: The number of permits. Traps if more permits are released than were acquired. A number below 1, or above
    ///   the `value` of the semaphore, counts as the nearest number that can be acquired.
    /// - Complexity: O(1), and O(*n*) in the number of callers that are resumed.
    public func release(_ count: Int = 1) {
        let count = _permitCount(count)
        let moment = Diagnostics.moment
        giveBack(count)
        source.emit(.released, count: count, at: moment)
    }

    @usableFromInline
    package func _release(_ count: Int, _ holding: _PermitHolding) {
        guard holding.isObserved else { return giveBack(count) }
        let moment = Diagnostics.moment
        giveBack(count)
        emitReleased(count, holding, at: moment)
    }

    @inline(__always)
    private func giveBack(_ count: Int) {
        if !permits.putBack(count) { giveBackInLine(count) }
    }

    @inline(never)
    private func giveBackInLine(_ count: Int) {
        switch permits.withMachine({ $0.release(count) }) {
        case .done: return
        case .granted(let granted): for waiter in granted { waiter.resume(returning: .reached) }
        case .refuse:
            fatalError(
                "AsyncSemaphore: more permits are released than were acquired. Release each permit once, or use withPermit { }."
            )
        }
    }

    /// Returns the number of permits that a request for `count` permits takes: at least one, and not more than there
    /// are.
    @usableFromInline
    @inline(__always)
    func _permitCount(_ count: Int) -> Int {
        if count >= 1 && count <= value { return count }
        return nearestPermitCount(count)
    }

    @inline(never)
    private func nearestPermitCount(_ count: Int) -> Int {
        // A semaphore without permits has callers that wait for one.
        ComputedNumber.count(count, in: 1...max(1, value), "AsyncSemaphore.acquire(_:)", .asyncSemaphore)
    }
}
