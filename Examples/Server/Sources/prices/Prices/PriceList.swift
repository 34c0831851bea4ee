import TaskControl
import TaskControlCaching
import TaskControlResilience

/// The prices that the server knows: a cache in front of the supplier, which is called under a policy.
final class PriceList: Sendable {
    private let cache: CachedFlight<String, Price>

    /// Creates an empty list.
    ///
    /// - Parameters:
    ///   - supplier: The upstream service.
    ///   - backoff: The delays before the supplier is asked again.
    ///   - clock: Measures ages, delays and time limits.
    init(supplier: any Supplier, backoff: RetryBackoff, clock: any Clock<Duration>) {
        let policy = Self.policy(backoff: backoff, clock: clock)
        cache = CachedFlight(
            name: "prices",
            capacity: 10_000,
            policy: CachePolicy(
                timeToLive: .seconds(10),
                staleWhileRevalidate: .seconds(60),
                staleIfError: .seconds(600)
            ),
            // An unknown product is cached as well, so that a client that asks for
            // it again and again does not reach the supplier.
            freshnessLifetime: { result in
                if case .failure(is UnknownProductError) = result {
                    .seconds(10)
                } else {
                    nil
                }
            },
            clock: clock
        ) { product in
            // A load is shared, so it does not have the deadline of one of its
            // callers. It needs a limit of its own. When its last caller leaves,
            // it is cancelled: the deadline of a request must be longer than
            // an ordinary load, or nothing is ever cached.
            try await withDeadline(in: .seconds(3), clock: clock) {
                try await withPolicy(policy, clock: clock) {
                    try await supplier.price(of: product)
                }
            }
        }
    }

    /// Returns the price of a product: from the cache, or from the supplier, which is asked once for all callers.
    ///
    /// - Throws: `UnknownProductError`; the error of the last attempt; the error of the part of the policy that refuses the call.
    func price(of product: String) async throws -> Price {
        try await cache.value(for: product)
    }

    /// Stores a price that the supplier has sent. It wins over a load that runs.
    func update(_ price: Price) {
        cache.update(price, for: price.product)
    }

    /// Returns the policy of all calls to the supplier. There is one policy per supplier: its parts hold the state of the service.
    private static func policy(backoff: RetryBackoff, clock: any Clock<Duration>) -> ResiliencePolicy {
        ResiliencePolicy(
            breaker: CircuitBreaker(
                name: "supplier",
                failureThreshold: 0.5,
                window: .seconds(10),
                minimumCalls: 5,
                openDuration: .seconds(5),
                isFailure: { !($0 is UnknownProductError) },
                clock: clock
            ),
            retry: RetryPolicy(
                backoff: backoff,
                shouldRetry: {
                    RetryPolicy.isWorthRetrying($0) && !($0 is UnknownProductError)
                }
            ),
            permits: AsyncSemaphore(name: "supplier", value: 16),
            attemptTimeout: .seconds(1)
        )
    }
}
