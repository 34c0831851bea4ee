import Foundation
import Support
import TaskControlHTTP
import TaskControlTesting
import Testing

@testable import bookshelf

/// Both forms of the service, over a real server.
@Suite(.oneServerAtATime, .timeLimit(.minutes(15)))
struct ServiceTests {
    private static let dune = NewBook(title: "Dune & more", author: "Frank Herbert")

    @Test func bothFormsGiveTheSameAnswers() async throws {
        try await TemporaryFolder.whileThere { folder in
            let file = try folder.file("cover.png", bytes: 300_000)
            try await BookServer.whileRunning { address, _ in
                let service = BookService(client: ServerConnection(server: address).client())
                let all = try await service.fetchBooks()
                #expect(all.map(\.title) == NewBook.classics.map(\.title))
                #expect(try await answer { service.fetchBooks(completion: $0) } == all)
                #expect(try await service.fetchPage(2).books == Array(all[5..<10]))
                #expect(try await answer { service.fetchPage(2, completion: $0) }.books == Array(all[5..<10]))
                #expect(try await service.search("BRONTE").map(\.title) == ["Jane Eyre", "Wuthering Heights"])
                #expect(try await answer { service.search("我是", completion: $0) }.map(\.id) == [11])
                #expect(try await service.add(Self.dune).id == 13)
                #expect(try await answer { service.add(Self.dune, completion: $0) }.id == 14)
                #expect(try await service.uploadCover(file, of: 13).cover == 300_000)
                #expect(try await answer { service.uploadCover(file, of: 14, completion: $0) }.cover == 300_000)
            }
        }
    }

    @Test(arguments: [true, false])
    func aCancelledUploadLeavesTheServerAndNothingThere(byProgress: Bool) async throws {
        try await TemporaryFolder.whileThere { folder in
            let file = try folder.file("cover.png", bytes: 40_000_000)
            let (arriving, held, events) = (Gate(), Gate(), Observed([String]()))
            var settings = BookServer.Settings.watched(by: events)
            settings.pace = { pace in
                guard pace == "piece" else { return }
                arriving.open()
                await held.waitIgnoringCancellation()
            }
            try await BookServer.whileRunning(settings) { address, server in
                let service = BookService(client: ServerConnection(server: address).client())
                if byProgress {
                    let (results, told) = AsyncStream<Result<Book, any Error>>.makeStream()
                    let progress = service.uploadCover(file, of: 3) { told.yield($0) }
                    try await arriving.wait()
                    progress.cancel()
                    let result = await results.first { _ in true }
                    #expect(throws: CancellationError.self) { try result?.get() }
                } else {
                    let task = Task { try await service.uploadCover(file, of: 3) }
                    try await arriving.wait()
                    task.cancel()
                    await #expect(throws: CancellationError.self) { try await task.value }
                }
                held.open()
                try await events.expect("the client to leave") {
                    $0.contains { $0.hasPrefix("PUT /books/3/cover: the client left after ") }
                }
                #expect(await server.shelf.books[2].cover == nil)
            }
        }
    }

    @Test(arguments: [true, false])
    func aListAfterAnOwnWriteIsFresh(byCallback: Bool) async throws {
        try await TemporaryFolder.whileThere { folder in
            let file = try folder.file("cover.png", bytes: 10)
            let events = Observed([String]())
            try await BookServer.whileRunning(.watched(by: events)) { address, _ in
                // Its clock stands still: no list becomes stale by its age.
                let service = BookService(client: ServerConnection(server: address).client(), clock: TestClock())
                let count = try await service.fetchBooks().count
                let requests = events.value.count
                #expect(try await service.fetchBooks().count == count)
                #expect(events.value.count == requests)
                if byCallback {
                    _ = try await answer { service.add(Self.dune, completion: $0) }
                    #expect(try await service.fetchBooks().count == count + 1)
                    _ = try await answer { service.uploadCover(file, of: 1, completion: $0) }
                } else {
                    _ = try await service.add(Self.dune)
                    #expect(try await service.fetchBooks().count == count + 1)
                    _ = try await service.uploadCover(file, of: 1)
                }
                #expect(try await service.fetchBooks().first?.cover == 10)
            }
        }
    }

    @Test func aListAfterAWriteThatFailsIsFreshToo() async throws {
        let pages = (1...3).map { "GET /books?page=\($0)" }
        let faults = try FaultPlan.first { faults in
            faults.fault(for: "POST /books?", count: 0) == .droppedReply && faults.clear("POST /login?", 0)
                && pages.allSatisfy { faults.clear($0, 0) && faults.clear($0, 1) }
        }
        try await BookServer.whileRunning(BookServer.Settings(faults: faults)) { address, _ in
            let client = ServerConnection(server: address, attempts: 1).client()
            let service = BookService(client: client, clock: TestClock())
            let count = try await service.fetchBooks().count
            await #expect(throws: EndpointError.self) { try await service.add(Self.dune) }
            #expect(try await service.fetchBooks().count == count + 1)
        }
    }

    @Test func anExpiredTokenIsRenewedOnceForAllWhoMeetIt() async throws {
        let events = Observed([String]())
        try await BookServer.whileRunning(.watched(by: events)) { address, server in
            let service = BookService(client: ServerConnection(server: address).client())
            _ = try await service.fetchBooks()
            server.expireAllTokens()
            try await withThrowingTaskGroup { group in
                for text in ["emma", "jane", "great", "the"] { group.addTask { _ = try await service.search(text) } }
                try await group.waitForAll()
            }
            #expect(events.value.count { $0 == "POST /login: 200" } == 2)
            #expect(events.value.contains("GET /books/search: 401"))
        }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func everythingIsDoneExactlyOnceByAServerThatFailsHalfTheTime(seed: UInt64) async throws {
        try await TemporaryFolder.whileThere { folder in
            let file = try folder.file("cover.png", bytes: 100_000)
            let events = Observed([String]())
            var settings = BookServer.Settings.watched(by: events)
            settings.books = []
            settings.faults = FaultPlan(share: 0.5, seed: seed)
            try await BookServer.whileRunning(settings) { address, server in
                let clock = TestClock(advancesAutomatically: true)
                let client = ServerConnection(server: address, attempts: 20, clock: clock).client()
                let service = BookService(client: client)
                let titles = (1...20).map { "Volume \($0)" }
                for title in titles { _ = try await service.add(NewBook(title: title, author: "A")) }
                try await withThrowingTaskGroup { group in
                    for book in 1...8 { group.addTask { _ = try await service.uploadCover(file, of: book) } }
                    try await group.waitForAll()
                }
                // Each of them once: a reply that was lost has not done its request twice.
                let changes = await server.shelf.changes(after: 0)
                #expect(changes.filter { $0.kind == .added }.map(\.book.title) == titles)
                #expect(changes.filter { $0.kind == .cover }.map(\.book.id).sorted() == Array(1...8))
            }
            // And it was put to the test.
            #expect(events.value.contains("POST /books: done, and the reply broken off on purpose"))
            #expect(events.value.contains("POST /books: 503, on purpose"))
        }
    }
}

extension BookServer.Settings {
    static func watched(by events: Observed<[String]>) -> BookServer.Settings {
        BookServer.Settings(onEvent: { event in events.update { $0.append(event) } })
    }
}

extension FaultPlan {
    func clear(_ request: String, _ count: Int) -> Bool { fault(for: request, count: count) == nil }

    /// Returns the first plan, of those that hit half of the requests, whose faults are as a test needs them.
    static func first(where isWanted: (FaultPlan) -> Bool) throws -> FaultPlan {
        let plans = (UInt64(0)..<200_000).lazy.map { FaultPlan(share: 0.5, seed: $0, retryAfter: 0) }
        return try #require(plans.first { isWanted($0) })
    }
}

extension URL {
    func file(_ name: String, bytes: Int) throws -> URL {
        let file = appending(path: name)
        try Data(repeating: 7, count: bytes).write(to: file)
        return file
    }
}

extension Trait where Self == ParallelizationTrait {
    /// Runs the tests of a suite one after another.
    ///
    /// Each server blocks a thread of Dispatch for as long as it listens, and Dispatch adds threads in place of blocked ones slowly. On a busy machine,
    /// the servers of all tests at once left no thread for the requests until their time limit.
    static var oneServerAtATime: Self { .serialized }
}
