import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlResilience
import TaskControlTesting

/// A partner permits a number of requests per second, and many calls are sent more than once: how many requests does it receive?
struct QuotaChapter: Chapter {
    let name = "quota"
    let title = "The partner's quota"

    private static let quota = 20
    private static let calls = 20

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let naive = try await play { HostPolicy(callParts: [$0], hedging: Self.hedging) }
        let limited = try await play { HostPolicy(hedging: Self.hedging, rate: $0) }
        let quota = Self.quota
        return Report(
            naive: ["the rate counts calls: up to \(naive.most) requests in a second; the quota is \(quota)"],
            taskControl: ["the rate counts what is sent: up to \(limited.most) requests in a second"],
            claims: [
                Claim("naive: all calls succeed", naive.succeeded, is: Self.calls),
                Claim("naive: the partner receives more than \(quota) requests in a second", naive.most) { $0 > quota },
                Claim("rate: all calls succeed", limited.succeeded, is: Self.calls),
                Claim("rate: retries and hedges are sent", limited.received) { $0 > Self.calls },
                Claim("rate: the partner receives at most \(quota) requests in any second", limited.most) {
                    $0 <= quota
                },
            ]
        )
    }

    private static var hedging: ResiliencePolicy.Hedging {
        ResiliencePolicy.Hedging(after: .fixed(.milliseconds(100)), budget: RetryBudget(capacity: 10_000))
    }

    private func play(_ policy: (RateLimiter) -> HostPolicy) async throws -> (succeeded: Int, received: Int, most: Int)
    {
        // Below the quota, since requests that are sent at regular times do not arrive at regular times.
        let rate = RateLimiter(name: "partner", rate: 15, burst: 1)
        let partner = Partner()
        let client = EndpointClient(
            name: "partner",
            baseURL: "https://partner.example",
            transport: MockTransport { _ in await partner.answer() },
            policies: ClientPolicies(
                retry: HTTPRetryPolicy(attempts: 10, backoff: .none, budget: nil),
                resilience: .shared(policy(rate))
            )
        )
        let succeeded = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<Self.calls {
                group.addTask { (try? await client.get("items/\(number)", as: String.self)) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        return (succeeded, await partner.received, await partner.most)
    }

    /// Fails two of three requests, answers every fourth one late, and counts all of them.
    private actor Partner {
        private var times: [ContinuousClock.Instant] = []

        var received: Int { times.count }

        /// The largest number of requests that came within one second.
        var most: Int {
            times.indices.map { first in
                times[first...].prefix { times[first].duration(to: $0) < .seconds(1) }.count
            }.max() ?? 0
        }

        func answer() async -> (Int, Data) {
            times.append(.now)
            let number = times.count
            if number.isMultiple(of: 4) { try? await Task.sleep(for: .milliseconds(300)) }
            return number.isMultiple(of: 3) ? (200, Data("item".utf8)) : (503, Data())
        }
    }
}
