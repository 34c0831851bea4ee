public import TaskControl

/// The policies of the calls of one service, applied by ``withPolicy(_:clock:operation:)`` in a fixed order.
///
/// ```swift
/// let search = ResiliencePolicy.standard(name: "search")        // one per service
///
/// let hits = try await withPolicy(search) { try await server.search(text) }
/// ```
///
/// Each part is optional, and a part that is absent costs only a comparison per call. Copies of a policy share its
/// parts: the breaker, the throttle and the limits keep the state of the service, so create one policy per service, for
/// example in a constant.
///
/// ## Order
/// The parts from the outside in, with the reason for each place:
///
/// 1. ``concurrency``, then ``rate``. They come before the parts that refuse calls while the service fails, so that
///    these parts decide by the state of the service after the wait. The token of the rate is taken after the permit of
///    the concurrency: otherwise callers would hold tokens while they wait for permits, and then use them in one burst.
/// 2. ``adaptiveLimit``. It comes after the rate, so that the wait for a token is not measured as a part of the
///    duration of a call. The limiter measures the whole call with its retries. A call that a later part refuses does
///    not count. Callers that wait for this limit have already taken their tokens: when the limit rises, more calls
///    than the burst of the rate can begin together.
/// 3. ``throttle``. It counts a call of the program once, regardless of its attempts, so its history shows how many
///    callers were served.
/// 4. ``breaker``. A call that the throttle refuses is neither a success nor a failure of the service, and does not use
///    a probe.
/// 5. ``hedging``. It is outside the retries, so that a hedge is another call with retries of its own. When one of the
///    calls has succeeded, the other is cancelled, even while it waits before a retry.
/// 6. ``retry``. It is inside the breaker: a call that succeeds at its second attempt is a success, and a breaker that
///    opens does not refuse the retries of a call that it has admitted.
/// 7. ``attemptTimeout``. It is innermost: an attempt that hangs becomes a failure, which each of the parts above can
///    count.
///
/// To limit the time of the whole call, put `withDeadline(in:)` around it: every part takes the deadline into account.
///
/// ## The shared budget
/// With a throttle, ``ClientThrottle/budget`` pays for the retries and the hedges, in place of the budgets of ``retry``
/// and ``hedging``: both use this budget, which pays for no retry and no hedge while the throttle refuses calls.
public struct ResiliencePolicy: Sendable {
    @usableFromInline var parts: _PolicyParts

    /// The limit of the number of calls that run at the same time; `nil` for none. Calls beyond this limit wait in a
    /// FIFO queue.
    public var concurrency: AsyncSemaphore? {
        get { parts.values.concurrency }
        set { change { $0.concurrency = newValue } }
    }
    /// The limit of the rate at which calls begin; `nil` for none. Calls beyond the rate wait in a FIFO queue.
    public var rate: RateLimiter? {
        get { parts.values.rate }
        set { change { $0.rate = newValue } }
    }
    /// The limit of the number of calls that run at the same time, which adapts to how long the calls take; `nil` for
    /// none. Calls beyond the limit wait in a bounded FIFO queue.
    public var adaptiveLimit: AdaptiveLimiter? {
        get { parts.values.adaptiveLimit }
        set { change { $0.adaptiveLimit = newValue } }
    }
    /// The throttle, which refuses a share of the calls while the service fails most of them; `nil` for none.
    public var throttle: ClientThrottle? {
        get { parts.values.throttle }
        set { change { $0.throttle = newValue } }
    }
    /// The circuit breaker, which refuses all calls while the service fails; `nil` for none.
    public var breaker: CircuitBreaker? {
        get { parts.values.breaker }
        set { change { $0.breaker = newValue } }
    }
    /// The rule for when another attempt begins because the previous one takes unusually long; `nil`: none begins. Only
    /// for operations that can run twice at the same time.
    public var hedging: Hedging? {
        get { parts.values.hedging }
        set { change { $0.hedging = newValue } }
    }
    /// The policy by which the operation is called again when it fails; `nil`: it is not called again.
    public var retry: RetryPolicy? {
        get { parts.values.retry }
        set { change { $0.retry = newValue } }
    }
    /// The time limit of each attempt; `nil` for none. With zero or less, each attempt fails with `TimeoutError`.
    public var attemptTimeout: Duration? {
        get { parts.values.attemptTimeout }
        set { change { $0.attemptTimeout = newValue } }
    }

    /// Creates a policy. A part that is not given is absent.
    ///
    /// - Parameters:
    ///   - concurrency: Limits how many calls run at the same time.
    ///   - rate: Limits the rate at which calls begin.
    ///   - adaptiveLimit: Limits how many calls run at the same time. The limit falls when calls take longer because
    ///     they wait in the service, and grows when they do not.
    ///   - throttle: Refuses a share of the calls while the service fails most of them.
    ///   - breaker: Refuses all calls while the service fails.
    ///   - hedging: Begins another attempt when the previous one takes unusually long.
    ///   - retry: Calls the operation again when it fails.
    ///   - attemptTimeout: The time limit of each attempt. With zero or less, each attempt fails with `TimeoutError`.
    public init(
        concurrency: AsyncSemaphore? = nil,
        rate: RateLimiter? = nil,
        adaptiveLimit: AdaptiveLimiter? = nil,
        throttle: ClientThrottle? = nil,
        breaker: CircuitBreaker? = nil,
        hedging: Hedging? = nil,
        retry: RetryPolicy? = nil,
        attemptTimeout: Duration? = nil
    ) {
        parts = _PolicyParts(
            _PolicyParts.Values(
                concurrency: concurrency,
                rate: rate,
                adaptiveLimit: adaptiveLimit,
                throttle: throttle,
                breaker: breaker,
                hedging: hedging,
                retry: retry,
                attemptTimeout: attemptTimeout
            )
        )
    }

    /// Creates a policy for a service on a network.
    ///
    /// | part | value | source |
    /// |---|---|---|
    /// | ``throttle`` | `multiplier` 2, `window` two minutes | "Handling Overload", Site Reliability Engineering, chapter 21 |
    /// | ``breaker`` | opens for 5 s when 10 % of at least 100 calls in 30 s have failed | Polly 8 |
    /// | ``retry`` | 3 attempts, 50 ms to 20 s, full jitter | the standard mode of the AWS SDKs |
    /// | ``attemptTimeout`` | 10 s | the standard handler of Microsoft.Extensions.Http.Resilience |
    ///
    /// There is no ``hedging``, since not every operation can run twice at the same time. There are no limits
    /// (``concurrency``, ``rate`` and ``adaptiveLimit``), since the right ones depend on the service.
    ///
    /// - Parameters:
    ///   - name: The name of the throttle and the breaker, shown in diagnostics; `nil` for none.
    ///   - isFailure: Returns whether an error is a failure of the service, for the throttle and the breaker. `false`:
    ///     the service has answered, and the call counts as a success. By default `true` for every error.
    ///   - clock: Measures the windows of the throttle and the breaker.
    public static func standard(
        name: String? = nil,
        isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true },
        clock: some Clock<Duration> = ContinuousClock()
    ) -> ResiliencePolicy {
        ResiliencePolicy(
            throttle: ClientThrottle(name: name, isFailure: isFailure, clock: clock),
            breaker: CircuitBreaker(name: name, isFailure: isFailure, clock: clock),
            // The budget of the throttle pays for the retries.
            retry: RetryPolicy(budget: nil),
            attemptTimeout: .seconds(10)
        )
    }

    private mutating func change(_ change: (inout _PolicyParts.Values) -> Void) {
        var values = parts.values
        change(&values)
        parts = _PolicyParts(values)
    }

    /// The rule for when ``withPolicy(_:clock:operation:)`` begins another attempt: because the previous one takes
    /// long, or because an attempt has failed with an error for which ``shouldHedge`` returns `true`. An attempt here
    /// includes the retries of ``ResiliencePolicy/retry``. See
    /// ``hedged(after:maxHedges:budget:clock:operation:shouldHedge:)-(_,_,_,_,()->Value,_)``.
    public struct Hedging: Sendable {
        /// The time after which another attempt begins if there is no result yet, counted from the beginning of the
        /// previous attempt.
        public var delay: HedgeDelay
        /// The largest number of attempts after the first. Less than 1 counts as 0.
        public var maxHedges: Int
        /// The budget that pays for the attempts after the first. If the policy has a ``ResiliencePolicy/throttle``,
        /// the budget of the throttle pays instead.
        public var budget: RetryBudget
        /// The closure that returns whether another attempt can succeed after an error of an attempt. If `true`,
        /// another attempt begins, as far as ``maxHedges`` and the budget allow it. If `false`, the error ends the
        /// call, and the other attempts are cancelled.
        public var shouldHedge: @Sendable (any Error) -> Bool

        /// Creates a rule for hedging.
        ///
        /// - Parameters:
        ///   - delay: The time after which another attempt begins if there is no result yet, counted from the beginning
        ///     of the previous attempt.
        ///   - maxHedges: The largest number of attempts after the first. Less than 1 counts as 0. By default 1, as in
        ///     failsafe-go.
        ///   - budget: Pays for the attempts after the first. By default a full budget pays for five of these attempts;
        ///     then, each call that succeeds returns one twentieth of the cost of an attempt. So in the long run at
        ///     most 5 % of the calls are hedged, as in "The Tail at Scale".
        ///   - shouldHedge: Returns whether another attempt can succeed after an error of an attempt. If `true`,
        ///     another attempt begins, as far as `maxHedges` and `budget` allow it. If `false`, the error ends the
        ///     call, and the other attempts are cancelled. By default `false` for every error:
        ///     ``ResiliencePolicy/retry`` has already retried the operation, with delays.
        public init(
            after delay: HedgeDelay,
            maxHedges: Int = 1,
            budget: RetryBudget = RetryBudget(capacity: 100, cost: 20),
            shouldHedge: @escaping @Sendable (any Error) -> Bool = { _ in false }
        ) {
            self.delay = delay
            self.maxHedges = maxHedges
            self.budget = budget
            self.shouldHedge = shouldHedge
        }
    }
}
