import TaskControlHTTP
import TaskControlTesting
import Testing

@testable import bookshelf

/// The behavior of the client with a server that fails.
@Suite(.oneServerAtATime, .timeLimit(.minutes(15)))
struct UnreliableTests {
    @Test func anExpiredTokenIsRenewedOnceForAllWhoMeetIt() async throws {
        let events = ServerEvents()
        try await BookServer.whileRunning(.watched(by: events)) { server in
            let service = RemoteBookService(client: server.client())
            #expect(try await service.fetchBooks().count == 23)
            #expect(events.count("POST /login") == 1)
            await server.tokens.expireAll()
            try await withThrowingTaskGroup { group in
                for text in ["emma", "jane", "der", "great", "the", "war"] {
                    group.addTask { _ = try await service.search(text) }
                }
                try await group.waitForAll()
            }
            #expect(events.count("POST /login") == 2)
            #expect(events.all.contains(ServerEvent(request: "GET /books/search", outcome: .answered(401))))
        }
    }

    @Test func aTokenEndsByItself() async throws {
        let (events, clock) = (ServerEvents(), TestClock())
        var settings = ServerSettings.watched(by: events)
        settings.tokenLifetime = .seconds(60)
        // Beyond the token's: the clock's only other sleeper.
        settings.heartbeat = .seconds(3_600)
        settings.clock = clock
        try await BookServer.whileRunning(settings) { server in
            let service = RemoteBookService(client: server.client())
            _ = try await service.search("emma")
            try await clock.waitForSleepers(count: 2)
            await clock.advance(by: .seconds(59))
            _ = try await service.search("emma")
            #expect(events.count("POST /login") == 1)
            await clock.advance(by: .seconds(1))
            try await server.tokens.waitForEnds()
            _ = try await service.search("emma")
            #expect(events.count("POST /login") == 2)
        }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func everythingIsDoneExactlyOnceByAServerThatFailsHalfTheTime(seed: UInt64) async throws {
        let folder = try TestFolder()
        let file = try folder.file("cover.png", bytes: 100_000)
        let (events, clock) = (ServerEvents(), TestClock(advancesAutomatically: true))
        var settings = ServerSettings.watched(by: events)
        settings.books = []
        settings.faults = FaultPlan(share: 0.5, seed: seed, retryAfter: 1, delay: .zero)
        try await BookServer.whileRunning(settings) { server in
            let service = RemoteBookService(client: server.client(attempts: 20, clock: clock))
            // In their order, as `add` does, so that the seed decides who is hit.
            let titles = (1...20).map { "Volume \($0)" }
            for title in titles { _ = try await service.add(NewBook(title: title, author: "A", year: nil)) }
            try await withThrowingTaskGroup { group in
                for book in 1...8 { group.addTask { _ = try await service.uploadCover(file, of: book) { _ in } } }
                try await group.waitForAll()
            }
            #expect(await server.shelf.all.map(\.title) == titles)
            #expect(await server.shelf.all.count { $0.cover?.size == 100_000 } == 8)
            // Each of them once: a reply that was lost has not done its request twice.
            let changes = await server.shelf.changes(after: 0)
            #expect(changes.filter { $0.kind == .added }.map(\.book.title) == titles)
            #expect(changes.filter { $0.kind == .cover }.map(\.book.id).sorted() == Array(1...8))
        }
        // And it was put to the test.
        let added = events.all.filter { $0.request == "POST /books" }
        #expect(added.contains { $0.outcome == .dropped })
        #expect(added.contains { $0.outcome == .refused })
    }

    @Test func whatTakesTooLongIsGivenUp() async throws {
        let (asked, held, clock) = (Gate(), Gate(), TestClock())
        var settings = ServerSettings()
        settings.pace = { pace in
            guard case .request("GET /books") = pace else { return }
            asked.open()
            await held.waitIgnoringCancellation()
        }
        try await BookServer.whileRunning(settings) { server in
            defer { held.open() }
            let service = RemoteBookService(client: server.client(timeLimit: .seconds(30), clock: clock))
            let task = Task { try await service.fetchPage(1) }
            try await asked.wait()
            await clock.advance(by: .seconds(30), waking: 1)
            let result = await task.result
            #expect(throws: TimeoutError(duration: .seconds(30))) { try result.get() }
        }
    }

    @Test func theSameSeedFailsTheSameRequests() {
        let plan = FaultPlan(share: 0.4, seed: 7)
        let faults = (0..<1_000).map { plan.fault(for: "GET /books?page=1", count: $0) }
        #expect(faults == (0..<1_000).map { plan.fault(for: "GET /books?page=1", count: $0) })
        #expect((350...450).contains(faults.count { $0 != nil }))
        for fault in FaultPlan.Fault.allCases { #expect(faults.count { $0 == fault } > 90) }
        let others = (0..<1_000).map { FaultPlan(share: 0.4, seed: 8).fault(for: "GET /books?page=1", count: $0) }
        #expect(faults != others)
        #expect((0..<1_000).allSatisfy { FaultPlan.none.fault(for: "GET /books", count: $0) == nil })
    }
}
