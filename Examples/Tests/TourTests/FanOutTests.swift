import Testing

@testable import tour

/// The claims of the chapter, with other numbers of items.
@Suite(.timeLimit(.minutes(15)))
@MainActor
struct FanOutTests {
    @Test(arguments: [1, 2, 8, 9, 30])
    func theFirstItemIsShownLastByATaskForEachItem(_ items: Int) async throws {
        let measured = try await measure(TaskPerItem(), items)
        #expect(measured.sentBehindHead == items - 1)
        #expect(measured.shown.sorted() == Array(1...items))
        #expect(measured.shown.last == 1)
    }

    @Test(arguments: [1, 2, 8, 9, 30])
    func allResultsWaitForTheSlowOneInATaskGroupWithACount(_ items: Int) async throws {
        let measured = try await measure(CountedFanOut(), items)
        #expect(measured.sentBehindHead == items - 1)
        #expect(measured.mostResults == items)
        #expect(measured.mostRunning <= FanOutChapter.limit)
        #expect(measured.shown == Array(1...items))
    }

    @Test(arguments: [1, 2, 8, 9, 30])
    func noMoreResultsThanTheLimitWaitInConcurrentMap(_ items: Int) async throws {
        for _ in 0..<5 {
            let measured = try await measure(BoundedFanOut(), items)
            #expect(measured.sentBehindHead == min(items, FanOutChapter.limit) - 1)
            #expect(measured.mostResults <= FanOutChapter.limit)
            #expect(measured.mostRunning <= FanOutChapter.limit)
            #expect(measured.shown == Array(1...items))
        }
    }

    private func measure(_ fanOut: some FanOut, _ items: Int) async throws -> FanOutChapter.Measured {
        try await TourServer.whileRunning { server in
            let (stage, address) = server.makeStage { _, _ in .answer }
            return try await FanOutChapter.measure(fanOut, items: items, stage, API(address: address))
        }
    }
}
