import Support
import TaskControl
import TaskControlHTTP
import TaskControlSupervision
import TaskControlTesting
import Testing

@testable import bookshelf

@Suite(.oneServerAtATime, .timeLimit(.minutes(15)))
struct WatchTests {
    @Test func afterAnOutageNoChangeIsLostOrDoubled() async throws {
        // The first connection breaks off; the server refuses the next two, and then answers again.
        let faults = try FaultPlan.first { faults in
            faults.fault(for: "GET /changes?after=0", count: 0) == .droppedReply
                && (0..<2).allSatisfy { faults.fault(for: "GET /changes?after=2", count: $0) == .unavailable }
                // The logins are those of the service and of the feed.
                && faults.clear("GET /changes?after=2", 2) && (0..<2).allSatisfy { faults.clear("POST /login?", $0) }
        }
        let (events, clock, lifetime) = (Observed([String]()), TestClock(), AsyncLifetime(name: "test"))
        var settings = BookServer.Settings.watched(by: events)
        settings.faults = faults
        let (seen, count) = try await BookServer.whileRunning(settings) { address, _ -> ([Int], Int) in
            let service = BookService(client: ServerConnection(server: address, attempts: 20).client())
            func add(_ title: Int) async throws { _ = try await service.add(NewBook(title: "\(title)", author: "A")) }
            for title in 1...2 { try await add(title) }
            // The clock stands still: what is added has no connection to arrive on until the test advances it.
            let client = ServerConnection(server: address, attempts: 20, clock: clock).client()
            let numbers = Observed([Int]())
            let work = service.follow(ChangeFeed(client: client, after: 0, clock: clock), in: lifetime) { change in
                numbers.update { $0.append(change.number) }
            }
            for await state in work.states { if case .waiting = state { break } }
            try await add(3)
            await clock.advance(by: .seconds(1), waking: 1)
            for title in 4...5 {
                try await events.expect("a refusal") {
                    $0.count { $0 == "GET /changes: 503, on purpose" } == title - 3
                }
                try await add(title)
                await clock.advance(by: .seconds(30), waking: 1)
            }
            try await numbers.expect("the changes of the outage") { $0.count == 5 }
            let count = try await service.fetchBooks().count
            try await add(6)
            try await numbers.expect("the last change") { $0.count == 6 }
            await lifetime.shutdown(grace: .zero)
            return (numbers.value, count)
        }
        #expect(seen == Array(1...6))
        #expect(count == NewBook.classics.count + 5)
    }

    @Test func aChangeOfTheFeedEndsTheListsFromBeforeIt() async throws {
        try await BookServer.whileRunning { address, _ in
            let (lifetime, last) = (AsyncLifetime(name: "test"), Observed(0))
            let connection = ServerConnection(server: address)
            let service = BookService(client: connection.client(), clock: TestClock())
            service.follow(ChangeFeed(client: connection.client(), after: 0), in: lifetime) { change in
                last.update { $0 = change.number }
            }
            let count = try await service.fetchBooks().count
            let other = BookService(client: connection.client())
            _ = try await other.add(NewBook(title: "Dune", author: "Frank Herbert"))
            try await last.expect("the change") { $0 == 1 }
            #expect(try await service.fetchBooks().count == count + 1)
            await lifetime.shutdown(grace: .zero)
        }
    }

    @Test func anErrorThatStaysEndsTheFeedAtOnce() async throws {
        let events = Observed([String]())
        try await BookServer.whileRunning(.watched(by: events)) { address, _ in
            // The clock stands still: a delay before another connection would never end.
            let clock = TestClock()
            let connection = ServerConnection(server: address, account: Account(password: "wrong"), clock: clock)
            let feed = ChangeFeed(client: connection.client(), clock: clock)
            let lifetime = AsyncLifetime(name: "test")
            let result = await Result.of { try await feed.watch(in: lifetime) { _ in } }
            #expect((result.failure as? EndpointError)?.statusCode == 403)
            #expect(events.value == ["POST /login: 403"])
        }
    }
}
