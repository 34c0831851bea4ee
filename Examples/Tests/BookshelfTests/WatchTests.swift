import TaskControl
import TaskControlHTTP
import TaskControlSupervision
import TaskControlTesting
import Testing

@testable import bookshelf

@Suite(.oneServerAtATime, .timeLimit(.minutes(15)))
struct WatchTests {
    @Test func changesAreToldAsTheyHappenAndFromWhereOneWas() async throws {
        let paper = Paper()
        try await BookServer.whileRunning { server in
            let service = RemoteBookService(client: server.client())
            _ = try await service.add(NewBook(title: "One", author: "A", year: nil))
            let watcher = Watcher(count: 2, screen: paper.screen())
            let watching = Task { try await watcher.watch(ChangeFeed(client: server.client(), after: 0)) }
            _ = try await service.add(NewBook(title: "Two\u{1B}", author: "B", year: nil))
            try await watching.value
            #expect(paper.text == "1  One, A (24): new\n2  Two\u{FFFD}, B (25): new\n")
            #expect(await watcher.last == 2)

            var later = ChangeFeed(client: server.client(), after: 1).follow().changes.makeAsyncIterator()
            #expect(await later.next()?.book.title == "Two\u{1B}")
        }
    }

    @Test func aFeedThatBreaksOffGoesOnWithoutMissingAnything() async throws {
        // The first connection breaks off, the next one holds.
        let seed = try #require(
            (UInt64(0)..<10_000).first { seed in
                let plan = FaultPlan(share: 0.5, seed: seed)
                return plan.fault(for: "GET /changes?after=0", count: 0) == .droppedReply
                    && plan.fault(for: "GET /changes?after=2", count: 0) == nil
            }
        )
        let events = ServerEvents()
        var settings = ServerSettings.watched(by: events)
        settings.faults = FaultPlan(share: 0.5, seed: seed, retryAfter: 0, delay: .zero)
        try await BookServer.whileRunning(settings) { server in
            let service = RemoteBookService(client: server.client(attempts: 20))
            for title in ["One", "Two"] { _ = try await service.add(NewBook(title: title, author: "A", year: nil)) }
            let feed = ChangeFeed(client: server.client(attempts: 20), after: 0, pause: .zero)
            var changes = feed.follow().changes.makeAsyncIterator()
            #expect(await changes.next()?.book.title == "One")
            #expect(await changes.next()?.book.title == "Two")
            _ = try await service.add(NewBook(title: "Three", author: "A", year: nil))
            #expect(await changes.next()?.book.title == "Three")
            #expect(events.all.contains(ServerEvent(request: "GET /changes", outcome: .dropped)))
        }
    }

    @Test func aFeedOfNobodyEndsWithAnError() async throws {
        let address = try await BookServer.whileRunning { $0.address }
        var connection = ServerConnection(server: address)
        connection.attempts = 1
        let watcher = Watcher(count: nil, screen: Paper().screen())
        let result = await Result.of { try await watcher.watch(ChangeFeed(client: connection.client())) }
        let error = try #require(result.failure)
        #expect(Complaint(error, server: address).text.hasPrefix("no server at \(address): start one with"))
    }

    @Test func afterAnOutageNoChangeIsLostOrDoubled() async throws {
        let refusal = ServerEvent(request: "GET /changes", outcome: .refused)
        // The first connection breaks off; the server refuses the next two, and then answers again.
        let seed = try #require(
            (UInt64(0)..<100_000).first { seed in
                let plan = FaultPlan(share: 0.5, seed: seed)
                return plan.fault(for: "GET /changes?after=0", count: 0) == .droppedReply
                    && (0..<2).allSatisfy { plan.fault(for: "GET /changes?after=2", count: $0) == .unavailable }
                    && plan.fault(for: "GET /changes?after=2", count: 2) == nil
                    // Of the service, and of the feed.
                    && (0..<2).allSatisfy { plan.fault(for: "POST /login?", count: $0) == nil }
            }
        )
        let (events, clock) = (ServerEvents(), TestClock())
        var settings = ServerSettings.watched(by: events)
        settings.faults = FaultPlan(share: 0.5, seed: seed, retryAfter: 0, delay: .zero)
        try await BookServer.whileRunning(settings) { server in
            let service = RemoteBookService(client: server.client(attempts: 20))
            func add(_ title: String) async throws {
                _ = try await service.add(NewBook(title: title, author: "A", year: nil))
            }
            for title in ["1", "2"] { try await add(title) }
            // The clock stands still: what is added has no connection to arrive on until the test advances it.
            let client = server.client(attempts: 20, clock: clock)
            let following = ChangeFeed(client: client, after: 0, clock: clock).follow()
            var states = following.work.states.makeAsyncIterator()
            var changes = following.changes.makeAsyncIterator()
            var numbers: [Int] = []
            for _ in 1...2 { await numbers.append(try #require(changes.next()).number) }
            while let state = await states.next() { if case .waiting = state { break } }
            try await add("3")
            await clock.advance(by: .seconds(1), waking: 1)
            for number in 4...5 {
                _ = await events.next { $0 == refusal }
                try await add("\(number)")
                await clock.advance(by: .seconds(30), waking: 1)
            }
            for _ in 3...5 { await numbers.append(try #require(changes.next()).number) }
            try await add("6")
            await numbers.append(try #require(changes.next()).number)
            #expect(numbers == Array(1...6))
            #expect(events.all.count { $0 == refusal } == 2)
        }
    }

    @Test func aFeedOfTheNextChangeMissesNoneBeforeItsFirst() async throws {
        let seed = try #require(
            (UInt64(0)..<10_000).first { seed in
                let plan = FaultPlan(share: 0.5, seed: seed)
                return plan.fault(for: "GET /changes?", count: 0) == .droppedReply
                    && plan.fault(for: "GET /changes?after=1", count: 0) == nil
                    && (0..<2).allSatisfy { plan.fault(for: "POST /login?", count: $0) == nil }
            }
        )
        let clock = TestClock()
        var settings = ServerSettings()
        settings.faults = FaultPlan(share: 0.5, seed: seed, retryAfter: 0, delay: .zero)
        try await BookServer.whileRunning(settings) { server in
            let service = RemoteBookService(client: server.client(attempts: 20))
            _ = try await service.add(NewBook(title: "1", author: "A", year: nil))
            let following = ChangeFeed(client: server.client(), clock: clock).follow()
            for await state in following.work.states { if case .waiting = state { break } }
            _ = try await service.add(NewBook(title: "2", author: "A", year: nil))
            await clock.advance(by: .seconds(1), waking: 1)
            #expect(await following.changes.first { _ in true }?.number == 2)
        }
    }

    @Test func anErrorThatStaysEndsTheFeedAtOnce() async throws {
        let events = ServerEvents()
        try await BookServer.whileRunning(.watched(by: events)) { server in
            var connection = ServerConnection(server: server.address)
            connection.account.password = "wrong"
            // It stands still: a delay before another connection would never end.
            let clock = TestClock()
            connection.clock = clock
            let feed = ChangeFeed(client: connection.client(), clock: clock)
            let watcher = Watcher(count: nil, screen: Paper().screen())
            let result = await Result.of { try await watcher.watch(feed) }
            #expect((result.failure as? EndpointError)?.statusCode == 403)
            #expect(events.count("POST /login") == 1)
        }
    }
}

extension ChangeFeed {
    /// Follows the changes until the stream is released.
    nonisolated fileprivate func follow() -> (changes: AsyncStream<Change>, work: SupervisedWork) {
        let (changes, continuation) = AsyncStream.makeStream(of: Change.self)
        let lifetime = AsyncLifetime()
        continuation.onTermination = { _ in lifetime.cancelAll() }
        return (changes, start(in: lifetime) { change in continuation.yield(change) })
    }
}
