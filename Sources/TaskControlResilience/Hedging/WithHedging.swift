public import TaskControl

/// Calls an operation, and calls it again if the first attempt has not ended after a given time. The first attempt that
/// succeeds determines the result.
///
/// ```swift
/// let delay = HedgeDelay.quantile()                             // one per operation
/// let budget = RetryBudget(capacity: 100, cost: 20)             // in the long run, one hedge per 20 calls
///
/// let page = try await withHedging(after: delay, budget: budget) {
///     try await server.fetch(url)
/// }
/// ```
///
/// For operations whose duration has a long tail, such as reads from one of several servers: a few additional attempts
/// make the slowest calls much faster ("The Tail at Scale", 2013). The operation runs several times, perhaps at the
/// same time, so it must be safe to repeat.
///
/// When an attempt fails with an error for which `shouldHedge` returns `true`, the next attempt begins at once, or, if
/// the error has a hint (`RetryAdvising`), when the time of that hint is over. If the hint is longer than 60
/// seconds, or ends after the caller's deadline (`Task.currentDeadline`), no other attempt begins, and the running
/// attempts continue. When one attempt has succeeded, or has failed with an error for which `shouldHedge` returns
/// `false`, the other attempts are cancelled and awaited, and their values are discarded: when this function returns or
/// throws, all attempts have ended.
///
/// The budget pays for each attempt after the first, as it pays for a retry: when it cannot pay, no other attempt
/// begins. An attempt that replaces an interrupted one is free. So a service that becomes slow as a whole does not receive a
/// multiple of the calls. The full budget above,
/// of 100 tokens, pays for five hedges at a cost of 20 tokens each; then, each call that succeeds returns 1 token,
/// which allows one hedge per 20 such calls.
///
/// ## Cancellation
/// If the caller was cancelled before the call, no attempt begins. If the caller is cancelled later, all attempts are
/// cancelled, no other attempt begins, and this function waits for the end of the attempts. It returns the value of an
/// attempt that succeeds nevertheless, and otherwise throws `CancellationError`.
///
/// ## Ordering
/// The attempt whose success the caller's task receives first determines the result. Attempts begin in the order of
/// their numbers. If the caller is isolated, for example to an actor, the attempts run one at a time and alternate at
/// their suspension points.
///
/// - Parameters:
///   - delay: The time after which another attempt begins if there is no result yet, counted from the beginning of the
///     previous attempt.
///   - maxHedges: The largest number of attempts after the first. Less than 0 counts as 0. By default 1, as in
///     failsafe-go.
///   - budget: Pays for the attempts after the first. Each call of this function that succeeds gives 1 token back to
///     the budget, regardless of its number of attempts.
///   - clock: Measures the time.
///   - operation: Receives the number of the attempt, counted from 1. Runs in the caller's isolation, in a child task
///     with the caller's task name.
///   - shouldHedge: Returns whether another attempt can succeed after an error of an attempt. If `true`, another
///     attempt begins at once, or after the delay that the error requests (`RetryAdvising`), as far as
///     `maxHedges` and `budget` allow it. If `false`, the error ends the call, and the other attempts are cancelled. By
///     default `RetryPolicy.isWorthRetrying(_:)`. A ``CallRefusedError`` and an interruption, such as a
///     `CancellationError`, never end the attempts that run.
/// - Returns: The value of the first attempt that succeeds.
/// - Throws: `CancellationError` if the caller is cancelled and no attempt succeeds. Otherwise the error for which
///   `shouldHedge` returned `false`, or, if there was none, the error of the attempt that failed last. The error of the
///   clock, if its `sleep` fails while no attempt runs.
@inlinable
public nonisolated(nonsending) func withHedging<Value: Sendable>(
    after delay: HedgeDelay,
    maxHedges: Int = 1,
    budget: RetryBudget,
    clock: some Clock<Duration> = ContinuousClock(),
    operation: nonisolated(nonsending) @Sendable (_ attempt: Int) async throws -> Value,
    shouldHedge: @Sendable (any Error) -> Bool = RetryPolicy.isWorthRetrying
) async throws -> Value {
    try Task.checkCancellation()
    var race = _HedgeRace(delay, maxHedges: maxHedges, budget: budget, clock)
    return try await withoutActuallyEscaping(operation) { operation in
        let (isolation, name, attempts) = (#isolation, race.taskName, _HedgeAttempts())
        var winner: Value?
        var failure: (any Error)?
        await withTaskGroup(of: _HedgeSignal<Value>.self) { group in
            var next = race.begin()
            while true {
                if let attempt = next.attempt {
                    group.addTask(name: name) {
                        await _hedgeAttempt(attempt, of: attempts, isolation: isolation, operation)
                    }
                }
                if let timer = next.timer {
                    group.addTask { await timer.fire() }
                }
                if next.isLast {
                    attempts.decide()
                    group.cancelAll()
                }
                guard let signal = await group.next() else { break }
                switch signal {
                case .value(let attempt, let value):
                    next = race.succeeded(attempt)
                    if next.isLast { winner = value }
                case .error(let attempt, let error):
                    // `shouldHedge` is code of the client: it is called only while its answer matters.
                    let isDecided = race.isDecided || Task.isCancelled
                    if !isDecided { failure = error }
                    next = race.failed(attempt, error, isFinal: !isDecided && !shouldHedge(error))
                case .timer(let number, let error):
                    next = race.timerEnded(number, error)
                    if next.isLast, let error { failure = error }
                }
            }
        }
        race.end(winner != nil, failure)
        if let winner { return winner }
        try Task.checkCancellation()
        throw failure ?? CancellationError()
    }
}

/// Calls an operation, and calls it again if the first attempt has not ended after a given time. The first attempt that
/// succeeds determines the result.
///
/// The operation does not receive the number of the attempt. Parameters, errors and cancellation are those of
/// ``withHedging(after:maxHedges:budget:clock:operation:shouldHedge:)-(_,_,_,_,(Int)->Value,_)``, whose operation receives
/// the number.
///
/// ```swift
/// let page = try await withHedging(after: .fixed(.milliseconds(50)), budget: budget) {
///     try await server.fetch(url)
/// }
/// ```
@inlinable
public nonisolated(nonsending) func withHedging<Value: Sendable>(
    after delay: HedgeDelay,
    maxHedges: Int = 1,
    budget: RetryBudget,
    clock: some Clock<Duration> = ContinuousClock(),
    operation: nonisolated(nonsending) @Sendable () async throws -> Value,
    shouldHedge: @Sendable (any Error) -> Bool = RetryPolicy.isWorthRetrying
) async throws -> Value {
    try await withoutActuallyEscaping(operation) { operation in
        try await withHedging(
            after: delay,
            maxHedges: maxHedges,
            budget: budget,
            clock: clock,
            operation: { (_: Int) in try await operation() },
            shouldHedge: shouldHedge
        )
    }
}

/// A message from a child task of a hedged call to the task of its caller.
@usableFromInline
enum _HedgeSignal<Value: Sendable>: Sendable {
    case value(attempt: Int, Value)
    case error(attempt: Int, any Error)
    /// The timer with the given number has fired, or the clock threw the given error instead of sleeping; `nil` if the
    /// clock threw no error.
    case timer(Int, (any Error)?)
}

/// Makes one attempt of a hedged call.
///
/// - Parameters:
///   - attempt: The number of the attempt, counted from 1, which the operation receives.
///   - attempts: The running attempts of the call, to which this attempt belongs until it ends.
///   - isolation: The isolation of the caller, in which the operation runs.
/// - Returns: The value or the error of the attempt.
@inlinable
func _hedgeAttempt<Value>(
    _ attempt: Int,
    of attempts: _HedgeAttempts,
    isolation: isolated (any Actor)?,
    _ operation: nonisolated(nonsending) @Sendable (Int) async throws -> Value
) async -> _HedgeSignal<Value> {
    attempts.begin()
    defer { attempts.end() }
    do {
        try Task.checkCancellation()
        return .value(attempt: attempt, try await operation(attempt))
    } catch {
        return .error(attempt: attempt, error)
    }
}

/// The actions that follow an event of a hedged call.
@usableFromInline
struct _HedgeStep: Sendable {
    /// The number of the attempt that must begin; `nil` if none begins.
    @usableFromInline let attempt: Int?
    /// The timer that must begin; `nil` if none begins.
    @usableFromInline let timer: _HedgeTimer?
    /// Whether the call is decided: no further attempt begins, and running attempts are cancelled.
    @usableFromInline let isLast: Bool

    init(attempt: Int? = nil, timer: _HedgeTimer? = nil, isLast: Bool = false) {
        self.attempt = attempt
        self.timer = timer
        self.isLast = isLast
    }
}

/// A timer for the next attempt: a child task sleeps until `end`, a time of the stopwatch, and then reports to the task
/// of the caller.
@usableFromInline
struct _HedgeTimer: Sendable {
    let number: Int
    let end: Duration
    let time: Stopwatch

    @usableFromInline
    nonisolated(nonsending) func fire<Value>() async -> _HedgeSignal<Value> {
        do {
            if time.now < end { try await time.sleep(until: end) }
            return .timer(number, nil)
        } catch {
            return .timer(number, error)
        }
    }
}
