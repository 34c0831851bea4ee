public import TaskControl

/// A throttle that reduces the number of calls to an overloaded service, so that the service does not spend its
/// capacity on refusing calls.
///
/// ```swift
/// let throttle = ClientThrottle(name: "search")                 // one per service
///
/// func search(_ text: String) async throws -> [Hit] {
///     try await retry(attempts: 3, budget: throttle.budget) {
///         try await throttle.run { try await server.search(text) }
///     }
/// }
/// ```
///
/// The throttle counts two numbers over the last `window`, by default two minutes: *requests*, which are all calls,
/// including those that the throttle has refused; and *accepts*, which are the calls that the service has accepted.
/// While there are at least as many accepts as requests divided by K (the parameter `multiplier`, by default 2), no
/// call is refused. When there are fewer, the throttle refuses calls at random, with the probability
///
/// > max(0, (requests − K × accepts) / (requests + 1))
///
/// The service then receives about K times as many calls as it accepts. This is the adaptive throttling of "Handling
/// Overload" (Site Reliability Engineering, chapter 21), with its defaults, and with these rules:
///
/// - A running call counts as a request as soon as it is one to two sixtieths of the window old (two to four seconds by
///   default); a call that ends earlier counts from its end. Otherwise the first calls of a client would be refused
///   before the service can have answered.
/// - If no call has been admitted for one second, the next call is admitted, regardless of the probability. This is how
///   the throttle notices a recovery.
/// - When the probability is more than zero, and the service accepts a call after it has accepted none for a twelfth of
///   the window (ten seconds by default), the earlier calls do not count any longer. The formula alone would continue
///   to refuse calls for minutes after an outage.
///
/// ## The shared budget
/// Pass ``budget`` to `retry` and to
/// ``hedged(after:maxHedges:budget:clock:operation:shouldHedge:)-(_,_,_,_,()->Value,_)``: one budget then pays for
/// retries and hedges, and pays for none of them while the throttle refuses calls. With the throttle inside `retry` or
/// `hedged`, as above, each attempt counts as a request; in a ``ResiliencePolicy`` the throttle is outside, and a call
/// counts once, regardless of its attempts. The same chapter also limits the retries of a client to 10 % of its calls;
/// here the budget replaces that limit.
///
/// ## What counts
/// - A call that returns a value counts as accepted, even if its caller was cancelled.
/// - A call that throws an error gives no information about the service if its caller was cancelled, or if another
///   policy of this module (such as a ``CircuitBreaker``) refused the call. It does not count if it ends before it is
///   one to two sixtieths of the window old, and counts as not accepted if it ends later.
/// - Any other call that throws an error counts as not accepted if `isFailure` (a parameter of the initializer) returns
///   `true` for the error, and as accepted if it returns `false`.
///
/// The throttle has no timer and no task. Safe to use from any thread and any isolation.
///
/// ## Cancellation
/// See ``run(_:)``.
///
/// ## Ordering
/// Calls do not wait for each other.
public final class ClientThrottle: Sendable, _CallGate {
    /// The budget of tokens that pays for retries and hedges: pass it to `retry` and `hedged`. It pays for none of them
    /// while ``refusalProbability`` is more than zero.
    public let budget: RetryBudget

    /// The name shown in diagnostics; `nil` if the throttle has none.
    public var name: String? { source.name }
    private let source: EventSource
    private let machine: Locked<ClientThrottleStateMachine>
    private let time: Stopwatch
    private let isFailure: @Sendable (any Error) -> Bool
    private let random: @Sendable () -> Double

    /// Creates a throttle without a history.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics; `nil` if the throttle has none.
    ///   - multiplier: K, the number of calls that are made for each call that the service accepts. Traps unless it is
    ///     finite and at least 1. A lower number reduces the load of the service, but then the throttle notices later
    ///     that the service accepts more calls. By default 2, as in "Handling Overload".
    ///   - window: The time for which a call counts. Traps unless it is more than zero. Give at least twice the time
    ///     limit of a call. By default two minutes, as in "Handling Overload".
    ///   - budget: The size of ``budget``, and the tokens that a retry or a hedge takes from it. By default the numbers
    ///     of the AWS SDKs.
    ///   - isFailure: Returns `true` for an error that means that the service did not accept the call. A call with
    ///     another error counts as accepted. By default `true` for every error.
    ///   - clock: Measures the window.
    ///   - random: Returns a random number from 0 to 1, excluding 1. A call can be refused only if the number is less
    ///     than ``refusalProbability``. In tests, pass a function that returns known numbers.
    public init(
        name: String? = nil,
        multiplier: Double = 2,
        window: Duration = .seconds(120),
        budget: BudgetCosts = BudgetCosts(),
        isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true },
        clock: some Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        insist(
            multiplier >= 1 && multiplier.isFinite,
            "ClientThrottle(multiplier: \(multiplier)): a service that accepts every call would be throttled. Give a finite number of 1 or more."
        )
        insist(window > .zero, "ClientThrottle(window: \(window)): no call would count. Give more than zero.")
        let machine = Locked(
            ClientThrottleStateMachine(
                ClientThrottleStateMachine.Configuration(multiplier: multiplier, window: window.saturated)
            )
        )
        let time = Stopwatch(clock)
        self.budget = RetryBudget(
            capacity: budget.capacity,
            cost: budget.cost,
            throttledCost: budget.throttledCost,
            // Captures the history, not the throttle: the budget may live longer.
            isOpen: {
                let now = time.now
                return machine.withLock { $0.probability(at: now) } == 0
            }
        )
        source = EventSource(.clientThrottle, name: name)
        self.machine = machine
        self.time = time
        self.isFailure = isFailure
        self.random = random
        Diagnostics.emit(source.event(.created))
    }

    deinit { Diagnostics.emit(source.event(.deallocated)) }

    /// The size of the ``ClientThrottle/budget`` of a throttle, and the tokens that a retry or a hedge takes from it.
    /// The numbers have the same meanings as in `RetryBudget`.
    public struct BudgetCosts: Hashable, Sendable {
        /// The number of tokens in a full budget.
        public var capacity: Int
        /// The number of tokens that a retry or a hedge takes, unless ``throttledCost`` applies.
        public var cost: Int
        /// The number of tokens that a retry or a hedge takes after an error with a hint: an error that states when to
        /// try again, by its `retryAfter` (`RetryAfterProviding`).
        public var throttledCost: Int

        /// Creates the size and the costs of a budget, in tokens. The initializer of ``ClientThrottle`` traps if one of
        /// them is out of its range.
        ///
        /// - Parameters:
        ///   - capacity: The number of tokens of a full budget: 0 or more.
        ///   - cost: The number of tokens that a retry or a hedge takes, unless `throttledCost` applies: 1 or more.
        ///   - throttledCost: The number of tokens that a retry or a hedge takes after an error that states when to try
        ///     again (`RetryAfterProviding`): 1 or more.
        public init(capacity: Int = 500, cost: Int = 14, throttledCost: Int = 5) {
            self.capacity = capacity
            self.cost = cost
            self.throttledCost = throttledCost
        }
    }

    /// The probability with which the next call is refused: from 0 to 1, excluding 1. If no call has been admitted for
    /// one second, the next call is nevertheless admitted. The value may have changed by the time the caller uses it.
    public var refusalProbability: Double {
        let now = time.now
        return machine.withLock { $0.probability(at: now) }
    }

    /// Runs an operation, unless the throttle refuses the call, and counts the outcome of the operation.
    ///
    /// ## Cancellation
    /// If the caller was cancelled before the call, the operation does not begin. A caller that is cancelled while the
    /// operation runs receives the value if the operation returns one, and otherwise `CancellationError`, regardless of
    /// the error that the operation throws.
    ///
    /// - Parameter operation: Runs in the caller's task and isolation.
    /// - Returns: The value that the operation returns.
    /// - Throws: `CancellationError` if the caller is cancelled, unless the operation returns a value. Otherwise
    ///   ``RequestThrottledError`` if the call is refused, or the error that the operation throws.
    /// - Complexity: O(1). A call that succeeds allocates nothing.
    @inlinable
    public nonisolated(nonsending) func run<Value>(
        _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        try await _run(operation)
    }

    @usableFromInline
    struct _Permit: Sendable {
        fileprivate let permit: ClientThrottleStateMachine.Permit
    }

    @usableFromInline
    func _admit() throws -> _Permit {
        if _isTaskCancelled { throw CancellationError() }
        var reading = ClockReading()
        return try admit(&reading)
    }

    /// Admits a call whose caller is not cancelled.
    ///
    /// - Parameter reading: The reading of the clock that this call shares with other policies.
    /// - Throws: ``RequestThrottledError`` if the throttle refuses the call.
    func admit(_ reading: inout ClockReading) throws -> _Permit {
        let now = time.now(&reading)
        if let permit = machine.withLock({ $0.admitWhileHealthy(at: now) }) { return _Permit(permit: permit) }
        let draw = random()
        let (admission, moment) = machine.withLock { ($0.admit(at: now, draw: draw), Diagnostics.moment) }
        switch admission {
        case .admitted(let permit): return _Permit(permit: permit)
        case .refused(let retryAfter):
            Diagnostics.emit(at: moment, source.event(.callRefused, delay: retryAfter))
            throw RequestThrottledError(name: name, retryAfter: retryAfter)
        }
    }

    @usableFromInline
    func _succeeded(_ permit: _Permit) { report(.healthy, of: permit) }

    /// Ends a call that has thrown an error.
    ///
    /// - Returns: The error for the caller: `CancellationError` if the caller is cancelled, otherwise `error`.
    @usableFromInline
    func _failed(_ permit: _Permit, _ error: any Error) -> any Error {
        let isCancelled = Task.isCancelled
        report(CallOutcome(of: error, isCancelled: isCancelled, isFailure: isFailure), of: permit)
        return isCancelled ? CancellationError() : error
    }

    /// Ends a call that gives no information about the service, such as a cancelled one.
    func withdraw(_ permit: _Permit) { report(.unknown, of: permit) }

    private func report(_ outcome: CallOutcome, of permit: _Permit) {
        var reading = ClockReading()
        report(outcome, of: permit, &reading)
    }

    func report(_ outcome: CallOutcome, of permit: _Permit, _ reading: inout ClockReading) {
        let now = time.now(&reading)
        machine.withLock { $0.report(outcome, of: permit.permit, at: now) }
    }
}
