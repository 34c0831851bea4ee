import TaskControlHTTP
import Testing

@testable import bookshelf

@Suite(.timeLimit(.minutes(15)))
struct WatchTests {
    @Test func changesAreToldAsTheyHappenAndFromWhereOneWas() async throws {
        let paper = Paper()
        try await BookServer.whileRunning { server in
            let service = RemoteBookService(client: server.client())
            _ = try await service.add(NewBook(title: "One", author: "A", year: nil))
            let feed = ChangeFeed(client: server.client())
            let watcher = Watcher(count: 2, screen: paper.screen())
            let watching = Task { try await watcher.watch(feed.changes(after: 0)) }
            _ = try await service.add(NewBook(title: "Two\u{1B}", author: "B", year: nil))
            try await watching.value
            #expect(paper.text == "1  One, A (24): new\n2  Two\u{FFFD}, B (25): new\n")
            #expect(await watcher.last == 2)

            var later = feed.changes(after: 1).makeAsyncIterator()
            #expect(try await later.next()?.book.title == "Two\u{1B}")
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
            var feed = ChangeFeed(client: server.client(attempts: 20))
            feed.pause = .zero
            var changes = feed.changes(after: 0).makeAsyncIterator()
            #expect(try await changes.next()?.book.title == "One")
            #expect(try await changes.next()?.book.title == "Two")
            _ = try await service.add(NewBook(title: "Three", author: "A", year: nil))
            #expect(try await changes.next()?.book.title == "Three")
            #expect(events.all.contains(ServerEvent(request: "GET /changes", outcome: .dropped)))
        }
    }

    @Test func aFeedOfNobodyEndsWithAnError() async throws {
        let address = try await BookServer.whileRunning { $0.address }
        var connection = ServerConnection(server: address)
        connection.attempts = 1
        let watcher = Watcher(count: nil, screen: Paper().screen())
        let feed = ChangeFeed(client: connection.client())
        let result = await Result.of { try await watcher.watch(feed.changes()) }
        let error = try #require(result.failure)
        #expect(Complaint(error, server: address).text.hasPrefix("no server at \(address): start one with"))
    }
}
