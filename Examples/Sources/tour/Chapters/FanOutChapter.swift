import TaskControl

/// Many requests, a few at a time, and the first one is slow: how many results wait for it?
struct FanOutChapter: Chapter {
    let name = "fan-out"
    let title = "The slow head"

    private static let items = 100
    private static let limit = 8

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let unlimited = try await play(TaskPerItem(), as: "a task each", on: tour)
        let naive = try await play(CountedFanOut(), as: "naive", on: tour)
        let bounded = try await play(BoundedFanOut(), as: "concurrentMap", on: tour)
        let (all, limit) = (Self.items, Self.limit)
        return Report(
            naive: [
                "a task for each item: \(unlimited.load.mostRunning) requests at a time",
                "a task group with a count: \(naive.load.mostRunning) requests at a time, \(naive.load.mostResults) results in memory",
            ],
            taskControl: [
                "\(bounded.load.mostRunning) requests at a time, \(bounded.load.mostResults) results in memory"
            ],
            claims: [
                Claim(
                    "a task for each item: more than \(limit) requests at a time",
                    unlimited.load.mostRunning
                ) { $0 > limit },
                Claim("a task for each item: the first item is shown last", unlimited.shown.last, is: 1),
                Claim("naive: at most \(limit) requests at a time", naive.load.mostRunning) { $0 <= limit },
                Claim("naive: all others are sent while the first one waits", naive.sentBehindHead, is: all - 1),
                Claim("naive: all results are in memory at the same time", naive.load.mostResults, is: all),
                Claim("naive: the results are in order", naive.shown, is: Array(1...all)),
                Claim("concurrentMap: at most \(limit) requests at a time", bounded.load.mostRunning) { $0 <= limit },
                Claim(
                    "concurrentMap: \(limit - 1) others are sent while the first one waits",
                    bounded.sentBehindHead,
                    is: limit - 1
                ),
                Claim("concurrentMap: at most \(limit) results are in memory", bounded.load.mostResults, is: limit),
                Claim("concurrentMap: the results are in order", bounded.shown, is: Array(1...all)),
            ]
        )
    }

    /// Loads items while the server holds the answer to the first one, until nothing more happens. Returns the number of requests that the server had
    /// when all results that could come had come, the load, and what was shown.
    @MainActor
    private func play(_ fanOut: some FanOut, as act: String, on tour: Tour) async throws -> (
        sentBehindHead: Int, load: Board.Load, shown: [Int]
    ) {
        try await tour.act(act, of: self) { stage, api in
            let items = Self.items
            let board = Board(api: api)
            stage.open(except: "item 1")
            let load = Task { try await fanOut.load(items, limit: Self.limit, on: board) }
            // No more results than these can come: each other operation waits for a place.
            let others = (fanOut.isBounded ? Self.limit : items) - 1
            try await board.load.expect("\(others) results behind the first one") { $0.received == others }
            try await stage.visits.expect("the first request") { $0.hasReceived("item 1") }
            let sent = stage.visits.value.received - 1
            stage.open()
            try await load.value
            return (sent, board.load.value, board.shown)
        }
    }
}
