import TaskControl
import TaskControlFanOut

/// Loads items and shows them in order.
@MainActor
final class Board {
    struct Load: Sendable {
        var running = 0
        var mostRunning = 0
        /// The results that have come.
        var received = 0
        /// The results that have come and are not shown.
        var results = 0
        var mostResults = 0
    }

    private let api: API
    let load = Observed(Load())
    private(set) var shown: [Int] = []

    init(api: API) { self.api = api }

    func load(_ item: Int) async throws -> Int {
        load.update { load in
            load.running += 1
            load.mostRunning = max(load.mostRunning, load.running)
        }
        let answer = try await api.ask("item \(item)")
        load.update { load in
            load.running -= 1
            load.received += 1
            load.results += 1
            load.mostResults = max(load.mostResults, load.results)
        }
        return answer.number
    }

    func append(_ item: Int) {
        load.update { $0.results -= 1 }
        shown.append(item)
    }
}

/// A way to load many items, a few at a time.
protocol FanOut: Sendable {
    /// Whether the limit counts results too.
    var isBounded: Bool { get }
    @MainActor func load(_ items: Int, limit: Int, on board: Board) async throws
}

/// A fan-out as people write it first: a task for each item. Nothing limits the requests, and the items are shown in the order of their answers.
struct TaskPerItem: FanOut {
    let isBounded = false

    @MainActor
    func load(_ items: Int, limit: Int, on board: Board) async throws {
        start(items, on: board)
        try await board.load.expect("all items") { $0.received == items }
    }

    @MainActor
    private func start(_ items: Int, on board: Board) {
        for item in 1...items {
            Task { try await board.append(board.load(item)) }
        }
    }
}

/// A fan-out as people write it today: the count limits the requests, and results that come early wait in a dictionary.
struct CountedFanOut: FanOut {
    let isBounded = false

    @MainActor
    func load(_ items: Int, limit: Int, on board: Board) async throws {
        try await withThrowingTaskGroup(of: (number: Int, item: Int).self) { group in
            var (next, early) = (1, [Int: Int]())
            for number in 1...items + limit {
                if number > limit, let (number, item) = try await group.next() {
                    early[number] = item
                    while let item = early.removeValue(forKey: next) {
                        board.append(item)
                        next += 1
                    }
                }
                if number <= items { group.addTask { (number, try await board.load(number)) } }
            }
        }
    }
}

/// A fan-out with `concurrentMap`: a result that waits counts as a request that runs.
struct BoundedFanOut: FanOut {
    let isBounded = true

    @MainActor
    func load(_ items: Int, limit: Int, on board: Board) async throws {
        try await (1...items).concurrentMap(limit: limit) { item in
            try await board.load(item)
        } forEach: { item in
            board.append(item)
        }
    }
}
