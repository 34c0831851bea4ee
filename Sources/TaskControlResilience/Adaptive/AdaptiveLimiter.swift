public import TaskControl

/// A limiter of the number of calls to a service that run at the same time, which derives this limit from how long the
/// calls take.
///
/// ```swift
/// let limiter = AdaptiveLimiter(name: "search")                // one per service
///
/// let hits = try await limiter.run {
///     try await withTimeout(.seconds(2)) { try await server.search(text) }
/// }
/// ```
///
/// A service can work on a certain number of calls at the same time. If more calls are made, they wait in a queue of
/// the service, and all of them take longer. The limiter admits as many calls as the service can work on at the same
/// time, and a few more. The other callers wait in the limiter, where they can be cancelled, and where the number of
/// waiting callers is bounded.
///
/// The limiter compares how long calls take with how long they take without a queue, and so estimates the length of the
/// queue in the service (the estimate of TCP Vegas). While the queue is short and the limit is reached, the limit grows
/// by about a tenth per second. If the queue is long, the limit falls. From time to time, and whenever calls take
/// longer, the limiter admits fewer calls at a time for about a second, to see whether these take less time. If they do
/// not, there was no queue: the service has become slower, and the limit stays. Without this check (as in
/// Netflix/concurrency-limits), the longer times of a mild overload would become the normal ones, and the limit would
/// grow.
///
/// Use a limiter at a place through which most calls of a service pass: in the service itself, or in the only client of
/// a database. A client that makes only a small share of a service's calls cannot see whether fewer of its calls would
/// help: use a ``ClientThrottle`` there.
///
/// ## What counts
/// - The duration of a call that returns a value counts, from the time at which it was admitted.
/// - A call that fails because of a time limit is a *drop*: `isDrop`, a parameter of the initializer, decides which
///   errors mean that. A call that is cancelled by the deadline of its caller is a drop as well. The duration of a drop
///   does not count. When most calls are drops, the limit falls by a quarter to a half. When calls succeed again, the
///   limit grows with each of them, up to nine tenths of its former value.
/// - A call that fails with another error, or is cancelled for another reason, does not count.
///
/// ## Refused calls
/// While the number of waiting callers is more than twice the limit, a further call is refused with a certain
/// probability. The probability grows with the number of waiting callers, up to 1 at three times the limit (as in
/// failsafe-go). A call is also refused if its deadline (`Task.currentDeadline`) would probably pass before the limiter
/// admitted the call. A refused call throws ``ConcurrencyLimitError``.
///
/// The limiter has no timer and no task. Safe to use from any thread and any isolation.
///
/// Related: `AsyncSemaphore` has a limit that you choose.
///
/// ## Ordering
/// Callers that wait are admitted in the order of their calls, regardless of their priorities.
///
/// ## Cancellation
/// See ``run(_:)``.
public final class AdaptiveLimiter: Sendable, _CallGate {
    private typealias Machine = AdmissionStateMachine<UnsafeContinuation<WaitOutcome, Never>>

    /// The name shown in diagnostics; `nil` if the limiter has none.
    public var name: String? { source.name }
    private let source: EventSource
    private let machine: Locked<Machine>
    private let time: Stopwatch
    private let isDrop: @Sendable (any Error) -> Bool
    private let random: @Sendable () -> Double

    /// Creates a limiter.
    ///
    /// The defaults of the limits are those of failsafe-go.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics; `nil` if the limiter has none.
    ///   - minimum: The smallest limit. Traps if it is less than 1. By default 1.
    ///   - maximum: The largest limit. Traps if it is less than `minimum` or more than a million. By default 200.
    ///   - initial: The first limit. Traps if it is not in `minimum...maximum`. By default 20, or the nearest number in
    ///     that range.
    ///   - isDrop: Receives the error of a call, and returns whether the call ended at a time limit. `true`: the call
    ///     is a drop, and if most calls are drops, the limit falls. `false`: the call has no influence on the limit. By
    ///     default `true` for a `TimeoutError` and a `DeadlineExceededError`. Not called if the caller is cancelled.
    ///   - clock: Measures how long the calls take.
    ///   - random: Returns a random number from 0 to 1, excluding 1. A call that can be refused because many callers
    ///     wait is refused if the number is less than the probability of its refusal. For tests, pass a closure that
    ///     returns known numbers.
    public init(
        name: String? = nil,
        minimum: Int = 1,
        maximum: Int = 200,
        initial: Int? = nil,
        isDrop: @escaping @Sendable (any Error) -> Bool = { $0 is TimeoutError || $0 is DeadlineExceededError },
        clock: some Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        insist(minimum >= 1, "AdaptiveLimiter(minimum: \(minimum)): no call would ever be made. Give 1 or more.")
        insist(
            (minimum...max(minimum, 1_000_000)).contains(maximum),
            "AdaptiveLimiter(maximum: \(maximum)): the maximum is less than the minimum, or more than a million. Give \(minimum) or more."
        )
        let initial = initial ?? min(max(20, minimum), maximum)
        insist(
            (minimum...maximum).contains(initial),
            "AdaptiveLimiter(initial: \(initial)): the limit is from \(minimum) to \(maximum). Give a number in this range."
        )
        source = EventSource(.adaptiveLimiter, name: name)
        machine = Locked(
            Machine(
                AdaptiveLimitStateMachine.Configuration(minimum: minimum, maximum: maximum, initial: initial)
            )
        )
        self.isDrop = isDrop
        self.random = random
        time = Stopwatch(clock)
        Diagnostics.emit(source.event(.created, count: initial))
    }

    deinit { Diagnostics.emit(source.event(.deallocated)) }

    /// The current limit of the number of calls that run at the same time. It may have changed by the time the caller
    /// uses it.
    public var limit: Int { machine.withLock { $0.limit } }

    /// The number of running calls. It can be more than the limit after the limit has fallen. It may have changed by
    /// the time the caller uses it.
    public var running: Int { machine.withLock { $0.running } }

    /// The number of waiting callers. It may have changed by the time the caller uses it.
    public var waiterCount: Int { machine.withLock { $0.waiterCount } }

    /// Runs an operation when it is admitted, and measures how long it takes.
    ///
    /// ## Cancellation
    /// If the caller was cancelled before the call, or is cancelled while it waits, this function throws
    /// `CancellationError` at once, and the operation does not run. If the caller is cancelled while the operation
    /// runs, this function waits for the operation: it returns the operation's value, or throws `CancellationError` in
    /// place of any error of the operation.
    ///
    /// - Parameter operation: Runs in the caller's task and isolation.
    /// - Returns: The value that the operation returns.
    /// - Throws: ``ConcurrencyLimitError`` if the call is refused; `CancellationError` if the caller is cancelled and
    ///   the operation has returned no value; otherwise the error of the operation.
    /// - Complexity: O(1), and O(*n*) in the number of waiting callers that are admitted when the call ends. A call
    ///   that does not wait allocates nothing.
    @inlinable
    public nonisolated(nonsending) func run<Value>(
        _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        try await _run(operation)
    }

    @usableFromInline
    struct _Permit: Sendable {
        fileprivate let permit: AdmissionStateMachine<UnsafeContinuation<WaitOutcome, Never>>.Permit
    }

    @usableFromInline
    nonisolated(nonsending) func _admit() async throws -> _Permit {
        if let permit = try _admitAtOnce() { permit } else { try await _admitInLine() }
    }

    @usableFromInline
    func _admitAtOnce() throws -> _Permit? {
        if _isTaskCancelled { throw CancellationError() }
        var reading = ClockReading()
        return admitAtOnce(&reading)
    }

    /// Admits a call whose caller is not cancelled, if the call need not wait.
    ///
    /// - Parameter reading: The reading of the clock that this call shares with other policies.
    /// - Returns: The admission; `nil` if the call must wait or could be refused: the caller must then call `_admit()`.
    func admitAtOnce(_ reading: inout ClockReading) -> _Permit? {
        let now = time.now(&reading)
        return machine.withLock { $0.admitAtOnce(at: now) }.map { _Permit(permit: $0) }
    }

    @usableFromInline
    nonisolated(nonsending) func _admitInLine() async throws -> _Permit {
        let (now, remaining, draw) = (time.now, remainingTime(), random())
        let (answer, moment) = machine.withLock {
            ($0.admit(at: now, within: remaining, draw: draw), Diagnostics.moment)
        }
        switch answer {
        case .admitted(let permit): return _Permit(permit: permit)
        case .refused(let retryAfter):
            Diagnostics.emit(at: moment, source.event(.callRefused, delay: retryAfter))
            throw ConcurrencyLimitError(name: name, retryAfter: retryAfter)
        case .line(let id): return try await wait(id, from: moment)
        }
    }

    private nonisolated(nonsending) func wait(_ id: Machine.Permits.ID, from moment: EventMoment?) async throws
        -> _Permit
    {
        let subject = moment.map { _ in TaskEvent.Identity(Diagnostics.nextNumber()) }
        Diagnostics.emit(at: moment, isInside: true, source.event(.waiting, .began(.waiting), about: subject))
        let outcome = await suspend { waiter in
            machine.withLock { $0.park(id, waiter) }
        } onCancel: {
            machine.withLock { $0.leave(id) }?.resume(returning: .left)
        }
        if outcome == .left || Task.isCancelled {
            // The permit was granted at the same time: another caller can use it.
            if outcome == .reached { resume(machine.withLock { $0.giveBack() }) }
            if subject != nil {
                Diagnostics.emit(
                    isInside: true,
                    source.event(.left, .ended(.cancelled), about: subject, isCancelled: true)
                )
            }
            throw CancellationError()
        }
        if subject != nil {
            Diagnostics.emit(isInside: true, source.event(.acquired, .ended(.completed), about: subject))
        }
        let now = time.now
        return _Permit(permit: machine.withLock { $0.begin(at: now) })
    }

    @usableFromInline
    func _succeeded(_ permit: _Permit) {
        var reading = ClockReading()
        succeeded(permit, &reading)
    }

    func succeeded(_ permit: _Permit, _ reading: inout ClockReading) { end(permit, .sample, at: time.now(&reading)) }

    /// Ends a call that has thrown an error.
    ///
    /// - Returns: The error for the caller: `CancellationError` if the caller is cancelled, otherwise `error`.
    @usableFromInline
    func _failed(_ permit: _Permit, _ error: any Error) -> any Error {
        let isCancelled = Task.isCancelled
        // `isDrop` is code of the client, so it is called without the lock.
        let isDrop =
            isCancelled ? Task.cancellationCause == .deadline : !(error is any LocalRefusal) && isDrop(error)
        end(permit, isDrop ? .drop : .none, at: time.now)
        return isCancelled ? CancellationError() : error
    }

    /// Ends a call that gives no information about the service, such as a cancelled one.
    func withdraw(_ permit: _Permit) { end(permit, .none, at: time.now) }

    private func end(_ permit: _Permit, _ measure: Machine.Measure, at now: Duration) {
        let (change, moment) = machine.withLock { ($0.end(permit.permit, measure, at: now), Diagnostics.moment) }
        resume(change.granted)
        if let limit = change.limit { Diagnostics.emit(at: moment, source.event(.limitChanged, count: limit)) }
    }

    private func resume(_ waiters: [UnsafeContinuation<WaitOutcome, Never>]) {
        for waiter in waiters { waiter.resume(returning: .reached) }
    }
}
