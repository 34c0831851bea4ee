/// What a client does beyond sending. All of it is off by default.
///
/// From the outside in: ``timeLimit`` for all of a call, the adapter, ``retry``, ``attemptTimeLimit`` for an attempt, the
/// ``authenticator``, ``coalescesGets``, the exchange. It is the order of the standard HTTP pipeline of .NET.
public struct ClientPolicies: Sendable {
    /// Who attaches credentials.
    public var authenticator: Authenticator?

    /// When a request is sent again.
    public var retry: HTTPRetryPolicy?

    /// How long a call may take, with all of its attempts and delays, and with the reading of a response that is streamed. At the limit it
    /// throws `TimeoutError`. `nil`: as long as it likes.
    public var timeLimit: Duration?

    /// How long an attempt may take, with the reading of a response that is streamed. At the limit it fails with `TimeoutError`, and may be
    /// retried. A request that is sent again with a new credential has as long again. `nil`: as long as it likes.
    public var attemptTimeLimit: Duration?

    /// Whether GET requests that are alike, in URL and in all headers, share one exchange while it is in flight.
    ///
    /// Each caller's endpoint makes its own content, and the observer hears of each. How far it has come is only known at its end. What is
    /// streamed or written to a file is not shared.
    public var coalescesGets: Bool

    /// Measures the limits and the delays. By default the continuous clock.
    public var clock: any Clock<Duration>

    /// Nothing beyond sending, unless it is given.
    ///
    /// - Parameters:
    ///   - authenticator: Who attaches credentials.
    ///   - retry: When a request is sent again.
    ///   - timeLimit: How long a call may take.
    ///   - attemptTimeLimit: How long an attempt may take.
    ///   - coalescesGets: Whether GET requests that are alike share one exchange.
    ///   - clock: Measures the limits and the delays.
    public init(
        authenticator: Authenticator? = nil,
        retry: HTTPRetryPolicy? = nil,
        timeLimit: Duration? = nil,
        attemptTimeLimit: Duration? = nil,
        coalescesGets: Bool = false,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.authenticator = authenticator
        self.retry = retry
        self.timeLimit = timeLimit
        self.attemptTimeLimit = attemptTimeLimit
        self.coalescesGets = coalescesGets
        self.clock = clock
    }
}
