import TaskControl
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

private struct Item: Sendable, Hashable { let title: String }

/// A partner that answers after a while, and fails at some requests.
private actor Server {
    struct Unavailable: Error {}

    private let time: @Sendable () -> Duration
    private(set) var requests: [Duration] = []
    private var open = 0
    private(set) var mostOpen = 0

    init(time: @escaping @Sendable () -> Duration) { self.time = time }

    func search(_ text: String) async throws -> [Item] {
        requests.append(time())
        let number = requests.count
        open += 1
        mostOpen = max(mostOpen, open)
        defer { open -= 1 }
        try await Task.sleep(for: .milliseconds(number % 7 * 100))
        if number % 5 == 0 { throw Unavailable() }
        return [Item(title: text)]
    }
}

private struct Partner: Sendable {
    let server: Server
    private let rate = RateLimiter(
        name: "partner",
        rate: 10,
        per: .seconds(1),
        burst: 1
    )
    private let connections = AsyncSemaphore(name: "partner", value: 4)

    init(_ server: Server) { self.server = server }

    func search(_ text: String) async throws -> [Item] {
        try await retry {  // waits for the time of a RetryAdvising error
            try await connections.withPermit {
                // last, so that no token ages while a call waits for a permit
                try await rate.acquire()
                return try await server.search(text)
            }
        }
    }
}

/// The recipe *A rate-limited API client* of the article *Recipes*.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct PartnerRecipeTests {
    /// Retries are requests too: none of them exceeds what the partner permits.
    @Test func neitherTheRateNorTheNumberOfConnectionsIsExceeded() throws {
        try simulate(seeds: Schedules.seeds(1_000, inDebug: 20)) { sim in
            let server = Server { sim.now }
            let partner = Partner(server)
            let found = await withTaskGroup { group in
                for number in 0..<20 {
                    group.addTask { try? await partner.search("\(number)") }
                }
                return await group.reduce(into: 0) { $0 += $1 == nil ? 0 : 1 }
            }
            let (requests, mostOpen) = await (server.requests, server.mostOpen)
            sim.expect(found >= 18 && requests.count > 20, "\(found) found, with \(requests.count) requests")
            sim.expect(mostOpen <= 4, "\(mostOpen) at a time")
            for (one, other) in zip(requests, requests.dropFirst()) {
                sim.expect(other - one >= .milliseconds(99), "\(other - one) between two requests")
            }
        }
    }

    @Test func aCancelledCallLeavesItsPlaceToTheOthers() throws {
        try simulate(seeds: Schedules.seeds(1_000, inDebug: 20)) { sim in
            let server = Server { sim.now }
            let partner = Partner(server)
            let calls = (0..<8).map { number in Task { try await partner.search("\(number)") } }
            for call in calls.prefix(4) { sim.cancelAtAnyPoint(call) }
            for call in calls.dropFirst(4) {
                sim.expect((try? await call.value) != nil, "a call that was not cancelled")
            }
            for call in calls { _ = await call.result }
            let last = try await partner.search("last")
            sim.expect(last == [Item(title: "last")])
        }
    }
}
