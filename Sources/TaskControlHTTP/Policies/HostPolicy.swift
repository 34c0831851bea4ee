internal import Foundation
public import TaskControlResilience

/// The parts of a `ResiliencePolicy` that the calls to one host share. Retries and time limits are those of
/// ``ClientPolicies``.
public struct HostPolicy: Sendable {
    /// Parts of your own around each call, from the outside in.
    public var callParts: [any PolicyPart]
    /// The circuit breaker, which refuses all calls while the host fails; `nil` for none.
    public var breaker: CircuitBreaker?
    /// The rule for when another exchange begins because the previous one takes unusually long; `nil` for none.
    public var hedging: ResiliencePolicy.Hedging?
    /// The permits of the exchanges that run at the same time; `nil`: their number is not limited.
    public var permits: AsyncSemaphore?
    /// The limit of the rate at which exchanges begin, which include retries and hedges; `nil` for none. Redirects, and
    /// requests that a transport repeats within an exchange, are not counted: see ``HTTPResilience``.
    public var rate: RateLimiter?
    /// Parts of your own around each exchange, from the outside in.
    public var attemptParts: [any PolicyPart]

    /// Creates a policy. A part that is not given is absent. Each parameter is the property with its name.
    public init(
        callParts: [any PolicyPart] = [],
        breaker: CircuitBreaker? = nil,
        hedging: ResiliencePolicy.Hedging? = nil,
        permits: AsyncSemaphore? = nil,
        rate: RateLimiter? = nil,
        attemptParts: [any PolicyPart] = []
    ) {
        (self.callParts, self.breaker, self.hedging) = (callParts, breaker, hedging)
        (self.permits, self.rate, self.attemptParts) = (permits, rate, attemptParts)
    }

    /// Returns a policy with the breaker of `ResiliencePolicy.standard(name:isFailure:clock:)`.
    ///
    /// - Parameter name: The name of the breaker, shown in diagnostics; `nil` for none.
    public static func standard(name: String? = nil) -> HostPolicy {
        HostPolicy(breaker: CircuitBreaker(name: name))
    }

    var policy: ResiliencePolicy {
        ResiliencePolicy(
            callParts: callParts,
            breaker: breaker,
            hedging: hedging,
            permits: permits,
            rate: rate,
            attemptParts: attemptParts
        )
    }
}
