import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

private struct Price: Sendable, Equatable {
    let id: Int
}

/// A server that sends prices from an ID on, and ends each connection after some of them.
private struct PriceFeed: Sendable {
    var perConnection = 2
    let connections = OrderRecorder<Int?>()
    let ended = OrderRecorder<Bool>()

    func prices(after id: Int?) async throws -> AsyncThrowingStream<Price, any Error> {
        connections.record(id)
        let (stream, input) = AsyncThrowingStream<Price, any Error>.makeStream()
        for number in 1...perConnection { input.yield(Price(id: (id ?? 0) + number)) }
        input.onTermination = { [ended] in if case .cancelled = $0 { ended.record(true) } }
        if perConnection == 2 { input.finish(throwing: MarkedError("lost")) }
        return stream
    }
}

@MainActor private final class PriceModel {
    private(set) var prices: [Price] = []
    private let lifetime = AsyncLifetime(name: "prices")

    @discardableResult
    func connect(to feed: PriceFeed) -> SupervisedWork {
        lifetime.keepRunning("prices", for: self, limit: .unlimited) { last in
            // as the header Last-Event-ID does
            try await feed.prices(after: last?.id)
        } deliver: { model, price in
            model.prices.append(price)
        }
    }
}

/// The recipe *A socket that reconnects* of the article *Recipes*.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct PriceFeedRecipeTests {
    @Test func theFeedIsContinuedAfterEachLoss() throws {
        try simulate(seeds: Schedules.seeds(1_000, inDebug: 30)) { sim in
            let feed = PriceFeed()
            let model = PriceModel()
            let work = await model.connect(to: feed)
            // Six restarts within a minute: more than the default limit.
            try await feed.connections.waitForEvents(count: 7)
            await work.stop()
            let prices = await model.prices
            sim.expect(prices == (1...max(prices.count, 12)).map { Price(id: $0) }, "each price comes once, in order")
            sim.expect(feed.connections.events.prefix(7) == [nil, 2, 4, 6, 8, 10, 12])
        }
    }

    @Test @MainActor func theModelIsDeallocatedAtOnceAndTheConnectionEnds() async throws {
        let feed = PriceFeed(perConnection: 3)
        var model: PriceModel? = PriceModel()
        weak let weak = model
        try await model?.connect(to: feed).waitUntilReady()
        model = nil
        #expect(weak == nil)
        try await feed.ended.waitForEvents(count: 1)
    }
}
