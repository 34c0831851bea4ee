import Testing

@testable import tour

/// The facts on which the chapter's claims rest, whatever the seed.
@Suite(.timeLimit(.minutes(15)))
struct FlakyTests {
    @Test func threeOfTenAreRefusedAndOneIsBrokenOff() {
        let replies = (UInt64(0)..<500).flatMap { seed in
            FlakyChapter.items.map { Faults(seed: seed).reply(to: $0, attempt: 1) }
        }
        let refused = replies.count { $0 == .unavailable(retryAfter: 1) }
        let brokenOff = replies.count { $0 == .breakOff }
        #expect((28...32).contains(refused * 100 / replies.count))
        #expect((8...12).contains(brokenOff * 100 / replies.count))
        #expect(refused + brokenOff < replies.count)
    }

    @Test func theSameSeedIsTheSameFaultsAndTheOrderPlaysNoPart() {
        let (one, other) = (Faults(seed: 7), Faults(seed: 7))
        let there = FlakyChapter.items.map { one.reply(to: $0, attempt: 2) }
        #expect(there == FlakyChapter.items.reversed().map { other.reply(to: $0, attempt: 2) }.reversed())
        #expect(there != FlakyChapter.items.map { Faults(seed: 8).reply(to: $0, attempt: 2) })
    }

    @Test func someItemsFailAndEachGoesWellWithinTheAttempts() {
        for seed in UInt64(0)..<500 {
            let counts = FlakyChapter.items.map { Faults(seed: seed).count(for: $0) }
            #expect(counts.contains { $0 > 0 }, "seed \(seed)")
            #expect(counts.allSatisfy { $0 < FlakyChapter.attempts }, "seed \(seed)")
        }
    }

    @Test func theBudgetPaysForAllFaultsOfASeedAlsoIfNothingComesBack() {
        for seed in UInt64(0)..<500 {
            let faults = Faults(seed: seed)
            let cost = FlakyChapter.items.reduce(0) { cost, item in
                (1...2).prefix { faults.reply(to: item, attempt: $0) != .answer }.reduce(cost) { cost, attempt in
                    cost + (faults.reply(to: item, attempt: attempt) == .breakOff ? 14 : 5)
                }
            }
            #expect(cost <= 500, "seed \(seed)")
        }
    }

    @Test func whoeverComesBackTooSoonIsRefusedAgainAndThatIsNoFault() throws {
        let faults = Faults(seed: 1)
        let item = try #require(
            FlakyChapter.items.first { faults.reply(to: $0, attempt: 1) == .unavailable(retryAfter: 1) }
        )
        let first = visit(item, at: .zero, .unavailable(retryAfter: 1))
        let soon = visit(item, at: .milliseconds(999), .tooSoon(retryAfter: 1))
        #expect(faults.reply(to: first, after: []) == .unavailable(retryAfter: 1))
        #expect(faults.reply(to: soon, after: [first]) == .tooSoon(retryAfter: 1))
        #expect(
            faults.reply(to: visit(item, at: .milliseconds(1_998)), after: [first, soon]) == .tooSoon(retryAfter: 1)
        )
        let late = faults.reply(to: visit(item, at: .milliseconds(1_999)), after: [first, soon])
        #expect(late == faults.reply(to: item, attempt: 2))
    }

    private let start = ContinuousClock.now

    private func visit(_ item: String, at time: Duration, _ reply: Reply = .answer) -> Visit {
        Visit(subject: item, edition: 1, token: nil, time: start + time, reply: reply)
    }
}
