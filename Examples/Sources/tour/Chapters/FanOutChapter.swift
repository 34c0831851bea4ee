import TaskControl

/// Many requests, a few at a time, and the first one is slow: how many results wait for it?
struct FanOutChapter: Chapter {
    let name = "fan-out"
    let title = "The slow head"

    private static let items = 100
    static let limit = 8

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let unlimited = try await play(TaskPerItem(), as: "a task each", on: tour)
        let naive = try await play(CountedFanOut(), as: "naive", on: tour)
        let bounded = try await play(BoundedFanOut(), as: "concurrentMap", on: tour)
        let (all, limit) = (Self.items, Self.limit)
        return Report(
            naive: Report.group("a task for each item", unlimited.lines)
                + Report.group("a task group with a count", naive.lines),
            taskControl: Report.group("concurrentMap(limit: \(limit))", bounded.lines),
            claims: [
                Claim(
                    "a task for each item: more than \(limit) requests at a time",
                    holds: unlimited.mostRunning > limit,
                    measured: "\(unlimited.mostRunning)"
                ),
                Claim("a task for each item: the first item is shown last", unlimited.shown.last, is: 1),
                Claim(
                    "naive: at most \(limit) requests at a time",
                    holds: naive.mostRunning <= limit,
                    measured: "\(naive.mostRunning)"
                ),
                Claim("naive: all others are sent while the first one waits", naive.sentBehindHead, is: all - 1),
                Claim("naive: all results are in memory at the same time", naive.mostResults, is: all),
                Claim("naive: the results are in order", naive.shown, is: Array(1...all)),
                Claim(
                    "concurrentMap: at most \(limit) requests at a time",
                    holds: bounded.mostRunning <= limit,
                    measured: "\(bounded.mostRunning)"
                ),
                Claim(
                    "concurrentMap: \(limit - 1) others are sent while the first one waits",
                    bounded.sentBehindHead,
                    is: limit - 1
                ),
                Claim("concurrentMap: at most \(limit) results are in memory", bounded.mostResults, is: limit),
                Claim("concurrentMap: the results are in order", bounded.shown, is: Array(1...all)),
            ]
        )
    }

    @MainActor
    private func play(_ fanOut: some FanOut, as act: String, on tour: Tour) async throws -> Measured {
        try await tour.act(act, of: self) { stage, api in
            try await Self.measure(fanOut, items: Self.items, stage, api)
        }
    }

    /// Loads items while the server holds the answer to the first one, until nothing more happens.
    @MainActor
    static func measure(_ fanOut: some FanOut, items: Int, _ stage: Stage, _ api: API) async throws -> Measured {
        let board = Board(api: api)
        stage.open(except: "item 1")
        let load = Task { try await fanOut.load(items, limit: limit, on: board) }
        // No more results than these can come: each other operation waits for a place.
        let others = fanOut.isBounded ? min(items, limit) - 1 : items - 1
        try await board.load.expect("\(others) results behind the first one") { $0.received == others }
        try await stage.visits.expect("the first request") { $0.hasReceived("item 1") }
        let sent = stage.visits.value.received - 1
        stage.open()
        try await load.value
        return Measured(items: items, sentBehindHead: sent, board.load.value, shown: board.shown)
    }

    struct Measured: Sendable {
        let items: Int
        /// The number of requests that the server had when all results that could come had come.
        let sentBehindHead: Int
        let mostRunning: Int
        /// The results in memory, with the one that is about to be shown.
        let mostResults: Int
        let shown: [Int]

        init(items: Int, sentBehindHead: Int, _ load: Board.Load, shown: [Int]) {
            (self.items, self.sentBehindHead, self.shown) = (items, sentBehindHead, shown)
            (mostRunning, mostResults) = (load.mostRunning, load.mostResults)
        }

        var lines: [String] {
            [
                "at most \(mostRunning) requests at a time",
                "\(sentBehindHead) of \(items - 1) sent behind the slow one",
                "at most \(mostResults) results in memory",
            ]
        }
    }
}
