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
/// parts: the breaker and the limits keep the state of the service, so create one policy per service, for
/// example in a constant.
///
/// ## Order
/// The parts from the outside in, with the reason for each place. The first four are *around the call*:
///
/// 1. ``callParts``, parts of your own. A call enters them once, regardless of its attempts, and holds their passes until
///    it has ended, also between its attempts. For example, an `AsyncSemaphore` here limits how many *calls* run at the
///    same time, which protects the memory of the program, not the service.
/// 2. ``breaker``. It counts a call of the program once, regardless of its attempts, so its history shows how many
///    callers were served. It admits the call when its first attempt has its permit, so that it decides by the state of
///    the service after the wait.
/// 3. ``hedging``. It is outside the retries, so that a hedge is another call with retries of its own. When one of the
///    calls has succeeded, the other is cancelled, even while it waits before a retry.
/// 4. ``retry``. It is inside the breaker: a call that succeeds at its second attempt is a success, and a breaker that
///    opens does not refuse the retries of a call that it has admitted, unless they have to wait.
///
/// The rest is *around each attempt*: the first, each retry and each hedge.
///
/// 5. ``permits``. A permit protects the service, so it is held while the service works, and not in a delay between
///    attempts.
/// 6. ``rate``. A service counts what it receives, so each attempt takes a token, when it has its permit.
/// 7. ``attemptParts``, parts of your own.
/// 8. ``attemptTimeout``. It is innermost: the time of an attempt contains no wait for a permit, a token or a part. An
///    attempt that hangs becomes a failure, which each of the parts above can count.
///
/// An attempt that had to wait is not sent if the breaker refuses calls by then: the call ends with
/// ``CallRefusedError``. While the circuit is open, no attempt of a call that the breaker has not admitted waits.
///
/// Every part of this module is a ``PolicyPart``. For an order of your own, pass the parts in it as `callParts` or
/// `attemptParts`: a breaker among the `attemptParts` counts attempts, and a rate among the `callParts` limits calls.
///
/// To limit the time of the whole call, put `withDeadline(in:)` around it: every part takes the deadline into account.
/// To share calls, put `withSingleFlight` or a `SingleFlight` around it: a caller that joins takes no permit and no token.
public struct ResiliencePolicy: Sendable {
    @usableFromInline package var parts: _PolicyParts

    /// Parts of your own around each call, from the outside in.
    public var callParts: [any PolicyPart] {
        get { parts.values.callParts }
        set { change { $0.callParts = newValue } }
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
    /// The permits of the attempts that run at the same time; `nil`: their number is not limited. An attempt for which
    /// there is no permit waits in a FIFO queue.
    public var permits: AsyncSemaphore? {
        get { parts.values.permits }
        set { change { $0.permits = newValue } }
    }
    /// The limit of the rate at which attempts begin, which includes the first attempt of a call, retries and hedges;
    /// `nil` for none. Attempts beyond the rate wait in a FIFO queue.
    public var rate: RateLimiter? {
        get { parts.values.rate }
        set { change { $0.rate = newValue } }
    }
    /// Parts of your own around each attempt, from the outside in.
    public var attemptParts: [any PolicyPart] {
        get { parts.values.attemptParts }
        set { change { $0.attemptParts = newValue } }
    }
    /// The time limit of each attempt; `nil` for none. With zero or less, each attempt fails with `TimeoutError`.
    public var attemptTimeout: Duration? {
        get { parts.values.attemptTimeout }
        set { change { $0.attemptTimeout = newValue } }
    }

    /// Creates a policy. A part that is not given is absent. Each parameter is the property with its name.
    public init(
        callParts: [any PolicyPart] = [],
        breaker: CircuitBreaker? = nil,
        hedging: Hedging? = nil,
        retry: RetryPolicy? = nil,
        permits: AsyncSemaphore? = nil,
        rate: RateLimiter? = nil,
        attemptParts: [any PolicyPart] = [],
        attemptTimeout: Duration? = nil
    ) {
        parts = _PolicyParts(
            _PolicyParts.Values(
                callParts: callParts,
                breaker: breaker,
                hedging: hedging,
                retry: retry,
                permits: permits,
                rate: rate,
                attemptParts: attemptParts,
                attemptTimeout: attemptTimeout
            )
        )
    }

    /// Creates a policy for a service on a network.
    ///
    /// | part | value | source |
    /// |---|---|---|
    /// | ``breaker`` | opens for 5 s when 10 % of at least 100 calls in 30 s have failed | Polly 8 |
    /// | ``retry`` | 3 attempts, 50 ms that double up to 20 s, full jitter, a budget of its own | the standard mode of the AWS SDKs |
    /// | ``attemptTimeout`` | 10 s | the standard handler of Microsoft.Extensions.Http.Resilience |
    ///
    /// There is no ``hedging``, since not every operation can run twice at the same time. There are no limits
    /// (``permits`` and ``rate``), since the right ones depend on the service.
    ///
    /// - Parameters:
    ///   - name: The name of the breaker, shown in diagnostics; `nil` for none.
    ///   - isFailure: Returns whether an error is a failure of the service. `false`: the service has answered, and the call counts as a success. By default `true` for every error.
    ///   - clock: Measures the window of the breaker.
    public static func standard(
        name: String? = nil,
        isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true },
        clock: some Clock<Duration> = ContinuousClock()
    ) -> ResiliencePolicy {
        ResiliencePolicy(
            breaker: CircuitBreaker(name: name, isFailure: isFailure, clock: clock),
            retry: RetryPolicy(budget: RetryBudget()),
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
    /// includes the retries of ``ResiliencePolicy/retry``, and the waits for a permit, a token or a part. See
    /// ``withHedging(after:maxHedges:budget:clock:operation:shouldHedge:)-(_,_,_,_,()->Value,_)``.
    public struct Hedging: Sendable {
        /// The time after which another attempt begins if there is no result yet, counted from the beginning of the
        /// previous attempt, with its waits: choose a longer one than a usual wait for a permit or a token.
        public var delay: HedgeDelay
        /// The largest number of attempts after the first. Less than 1 counts as 0.
        public var maxHedges: Int
        /// The budget that pays for the attempts after the first.
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
        ///   - maxHedges: The largest number of attempts after the first. Less than 0 counts as 0. By default 1, as in
        ///     failsafe-go.
        ///   - budget: Pays for the attempts after the first. By default a full budget pays for five of these attempts;
        ///     then, each call that succeeds returns one twentieth of the cost of an attempt. So in the long run at
        ///     most 5 % of the calls are hedged, as in "The Tail at Scale".
        ///   - shouldHedge: Returns whether another attempt can succeed after an error of an attempt. If `true`,
        ///     another attempt begins, as far as `maxHedges` and `budget` allow it. If `false`, the error ends the
        ///     call, and the other attempts are cancelled. By default `RetryPolicy.isWorthRetrying(_:)`.
        public init(
            after delay: HedgeDelay,
            maxHedges: Int = 1,
            budget: RetryBudget = RetryBudget(capacity: 100, cost: 20),
            shouldHedge: @escaping @Sendable (any Error) -> Bool = RetryPolicy.isWorthRetrying
        ) {
            self.delay = delay
            self.maxHedges = maxHedges
            self.budget = budget
            self.shouldHedge = shouldHedge
        }
    }
}
