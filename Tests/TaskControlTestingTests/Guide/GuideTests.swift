import Foundation
import TaskControlTesting
import TestSupport
import Testing

// The examples of the article TestsThatCannotFlake.md, each before its fix and after it. `scripts/check-excerpts --guide` checks that the guide shows this code and
// the output of these tests unchanged. `TASKCONTROL_GUIDE=1 swift test --filter OrdinaryTests` measures how often ordinary tests find the bugs.

private let showsWhatTheGuideShows = ProcessInfo.processInfo.environment["TASKCONTROL_GUIDE"] != nil

/// Runs a simulation that must fail, and prints the failure for `scripts/check-excerpts --guide`.
private func failure(of simulation: () throws -> Void) throws -> Simulation.Failure {
    let failure = try #require(throws: Simulation.Failure.self, performing: simulation)
    if showsWhatTheGuideShows { print("\(failure)") }
    return failure
}

// MARK: - A token stampede

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct TokensBefore {
    actor Tokens {
        private(set) var refreshes = 0
        private var token: String?

        func current() async -> String {
            if let token { return token }
            let fresh = await refresh()
            token = fresh
            return fresh
        }

        private func refresh() async -> String {
            refreshes += 1
            try? await Task.sleep(for: .milliseconds(50))  // the server
            return "token \(refreshes)"
        }
    }

    func threeRequests(_ sim: Simulation) async {
        let tokens = Tokens()
        var random = sim.random
        await withTaskGroup { group in
            for name in ["feed", "profile", "inbox"] {
                let delay = Int.random(in: 0...400, using: &random)
                group.addTask(name: name) {
                    try? await Task.sleep(for: .milliseconds(delay))
                    _ = await tokens.current()
                }
            }
        }
        sim.expect(await tokens.refreshes == 1, "one refresh serves all three")
    }

    @Test func aSeedShowsTheBugAndReplaysIt() throws {
        let found = try failure {
            try simulate(seeds: 0..<1_000) { sim in await threeRequests(sim) }
        }
        let replayed = try failure {
            try simulate(seed: found.seed) { sim in await threeRequests(sim) }
        }
        guard case .expectation = found.reason else { throw found }
        #expect(found.run == replayed.run)
    }
}

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct TokensAfter {
    actor Tokens {
        private(set) var refreshes = 0
        private var token: String?
        private var refreshing: Task<String, Never>?

        func current() async -> String {
            if let token { return token }
            if let refreshing { return await refreshing.value }
            let task = Task { await refresh() }
            refreshing = task
            let fresh = await task.value
            (token, refreshing) = (fresh, nil)
            return fresh
        }

        private func refresh() async -> String {
            refreshes += 1
            try? await Task.sleep(for: .milliseconds(50))  // the server
            return "token \(refreshes)"
        }
    }

    func threeRequests(_ sim: Simulation) async {
        let tokens = Tokens()
        var random = sim.random
        await withTaskGroup { group in
            for name in ["feed", "profile", "inbox"] {
                let delay = Int.random(in: 0...400, using: &random)
                group.addTask(name: name) {
                    try? await Task.sleep(for: .milliseconds(delay))
                    _ = await tokens.current()
                }
            }
        }
        sim.expect(await tokens.refreshes == 1, "one refresh serves all three")
    }

    @Test func allSeedsPass() throws {
        try simulate(seeds: 0..<1_000) { sim in await threeRequests(sim) }
    }
}

// MARK: - A missed wake-up

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct DoorBefore {
    actor Door {
        private(set) var isOpen = false
        private(set) var waiting: [CheckedContinuation<Void, Never>] = []

        func open() {
            isOpen = true
            for visitor in waiting { visitor.resume() }
            waiting = []
        }

        func wait() async {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func pass(_ door: Door, log: @Sendable (String) -> Void) async {
        if await door.isOpen { return }
        log("the door is shut: I wait")
        await door.wait()
    }

    func visit(_ sim: Simulation) async {
        let door = Door()
        let visitor = Task(name: "visitor") { await pass(door) { sim.note($0) } }
        let porter = Task(name: "porter") { await door.open() }
        await visitor.value
        await porter.value
    }

    @Test func aSeedShowsTheBugAndReplaysIt() throws {
        let found = try failure {
            try simulate(seeds: 0..<1_000) { sim in await visit(sim) }
        }
        let replayed = try failure {
            try simulate(seed: found.seed) { sim in await visit(sim) }
        }
        guard case .deadlock = found.reason else { throw found }
        #expect(found.run == replayed.run)
    }

    @Test func anExhaustiveSearchFindsASchedule() throws {
        let found = try failure {
            try simulate(strategy: .exhaustive()) { sim in await visit(sim) }
        }
        let replayed = try failure {
            try simulate(schedule: found.schedule) { sim in await visit(sim) }
        }
        guard case .deadlock = found.reason else { throw found }
        #expect(found.run == replayed.run)
    }
}

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct DoorAfter {
    actor Door {
        private(set) var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func open() {
            isOpen = true
            for visitor in waiting { visitor.resume() }
            waiting = []
        }

        func wait(log: @Sendable (String) -> Void) async {
            if isOpen { return }
            log("the door is shut: I wait")
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func pass(_ door: Door, log: @Sendable (String) -> Void) async {
        await door.wait(log: log)
    }

    func visit(_ sim: Simulation) async {
        let door = Door()
        let visitor = Task(name: "visitor") { await pass(door) { sim.note($0) } }
        let porter = Task(name: "porter") { await door.open() }
        await visitor.value
        await porter.value
    }

    @Test func allSeedsPass() throws {
        try simulate(seeds: 0..<1_000) { sim in await visit(sim) }
    }

    @Test func allSchedulesPass() throws {
        let report = try simulate(strategy: .exhaustive()) { sim in await visit(sim) }
        #expect(report.exhaustedPreemptions == 2)
        if showsWhatTheGuideShows { print("\(report)") }
    }
}

// MARK: - Left behind for long

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct FeedBefore {
    actor Feed {
        private var lines: [String] = []  // the last 16
        private var dropped = 0

        var end: Int { dropped + lines.count }

        func append(_ line: String) {
            lines.append(line)
            if lines.count > 16 {
                lines.removeFirst()
                dropped += 1
            }
        }

        func lines(_ range: Range<Int>) -> [String] {
            range.clamped(to: dropped..<end).map { lines[$0 - dropped] }
        }
    }

    func lastLines(of feed: Feed, log: @Sendable (String) -> Void) async -> [String] {
        let end = await feed.end
        log("I read up to line \(end)")
        return await feed.lines(end - 4..<end)
    }

    func readWhileOthersWrite(_ sim: Simulation) async {
        let feed = Feed()
        for number in 0..<4 { await feed.append("line \(number)") }
        let writer = Task(name: "writer") {
            for number in 4..<34 {
                await feed.append("line \(number)")
                await Task.yield()
            }
        }
        let reader = Task(name: "reader") {
            let lines = await lastLines(of: feed) { sim.note($0) }
            sim.expect(lines.count == 4, "four lines are read")
        }
        await writer.value
        await reader.value
    }

    @Test func pickingAtRandomDoesNotFindIt() throws {
        try simulate(seeds: 0..<1_000, strategy: .random) { sim in await readWhileOthersWrite(sim) }
    }

    @Test func aSeedShowsTheBugAndReplaysIt() throws {
        let found = try failure {
            try simulate(seeds: 0..<1_000) { sim in await readWhileOthersWrite(sim) }
        }
        let replayed = try failure {
            try simulate(seed: found.seed, strategy: found.strategy) { sim in await readWhileOthersWrite(sim) }
        }
        guard case .expectation = found.reason else { throw found }
        #expect(found.run == replayed.run)
    }

    @Test func theShortestScheduleShowsTheBugToo() throws {
        let found = try #require(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<1_000) { sim in await readWhileOthersWrite(sim) }
        }
        let shortest = try #require(found.shrunk)
        let replayed = try #require(throws: Simulation.Failure.self) {
            try simulate(schedule: shortest.schedule) { sim in await readWhileOthersWrite(sim) }
        }
        #expect(replayed.steps == shortest.steps)
    }
}

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct FeedAfter {
    actor Feed {
        private var lines: [String] = []  // the last 16

        func append(_ line: String) {
            lines.append(line)
            if lines.count > 16 { lines.removeFirst() }
        }

        func latest(_ count: Int) -> [String] { lines.suffix(count) }
    }

    func lastLines(of feed: Feed, log: @Sendable (String) -> Void) async -> [String] {
        let lines = await feed.latest(4)
        log("I have read \(lines.count) lines")
        return lines
    }

    func readWhileOthersWrite(_ sim: Simulation) async {
        let feed = Feed()
        for number in 0..<4 { await feed.append("line \(number)") }
        let writer = Task(name: "writer") {
            for number in 4..<34 {
                await feed.append("line \(number)")
                await Task.yield()
            }
        }
        let reader = Task(name: "reader") {
            let lines = await lastLines(of: feed) { sim.note($0) }
            sim.expect(lines.count == 4, "four lines are read")
        }
        await writer.value
        await reader.value
    }

    @Test func allSeedsPass() throws {
        try simulate(seeds: 0..<1_000) { sim in await readWhileOthersWrite(sim) }
    }
}

// MARK: - The ordinary tests

/// Counts how often ordinary tests of the three programs fail. The guide shows the numbers.
@Suite(.timeLimit(.minutes(10)), .serialized, .enabled(if: showsWhatTheGuideShows), .tags(.unsanitized))
struct OrdinaryTests {
    @Test func tokens() async {
        let red = await withTaskGroup { group in
            for _ in 0..<1_000 { group.addTask { await showsTokensBug() } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        print("ordinary tests of the tokens: \(red) of 1000 are red")
    }

    private func showsTokensBug() async -> Bool {
        let tokens = TokensBefore.Tokens()
        await withTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(Int.random(in: 0...400)))
                    _ = await tokens.current()
                }
            }
        }
        return await tokens.refreshes > 1
    }

    @Test func door() async {
        var red = 0
        for _ in 0..<100_000 {
            let (door, visit) = (DoorBefore.Door(), Gate())
            let visitor = Task {
                await DoorBefore().pass(door) { _ in }
                visit.open()
            }
            let porter = Task { await door.open() }
            await porter.value
            // Either it gets through, or it is found waiting at a door that is open.
            while !visit.isOpen, await door.waiting.isEmpty { await Task.yield() }
            if !visit.isOpen { red += 1 }
            await door.open()
            await visitor.value
        }
        print("ordinary tests of the door: \(red) of 100000 do not end")
    }

    @Test func feed() async {
        var red = 0
        for _ in 0..<100_000 {
            let feed = FeedBefore.Feed()
            for number in 0..<4 { await feed.append("line \(number)") }
            let writer = Task {
                for number in 4..<34 {
                    await feed.append("line \(number)")
                    await Task.yield()
                }
            }
            let reader = Task { await FeedBefore().lastLines(of: feed) { _ in } }
            await writer.value
            if await reader.value.count < 4 { red += 1 }
        }
        print("ordinary tests of the feed: \(red) of 100000 are red")
    }
}
