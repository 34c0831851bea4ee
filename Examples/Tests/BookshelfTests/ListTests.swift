import Foundation
import TaskControl
import TaskControlCaching
import TaskControlHTTP
import TaskControlTesting
import Testing

@testable import bookshelf

/// The lists that a service keeps, and when it loads them again.
@Suite(.oneServerAtATime, .timeLimit(.minutes(15)))
struct ListTests {
    private static let dune = NewBook(title: "Dune", author: "Frank Herbert", year: 1965)

    @Test(arguments: [true, false])
    func aListAfterAnOwnWriteIsFresh(byCallback: Bool) async throws {
        let folder = try TestFolder()
        let file = try folder.file("cover.png", bytes: 10)
        let events = ServerEvents()
        try await BookServer.whileRunning(.watched(by: events)) { server in
            // Its clock stands still: no list becomes stale by its age.
            let service = RemoteBookService(client: server.client(), clock: TestClock())
            let (count, first) = (try await service.fetchBooks().count, try await service.fetchPage(1))
            let requests = events.count("GET /books")
            #expect(try await service.fetchBooks().count == count)
            #expect(try await service.fetchPage(1) == first)
            #expect(events.count("GET /books") == requests)

            let added =
                byCallback
                ? try await awaited { service.add(Self.dune, completion: $0) } : try await service.add(Self.dune)
            #expect(try await service.fetchBooks().last == added)
            #expect(try await service.fetchPage(1) == first)
            if byCallback {
                _ = try await awaited { service.uploadCover(file, of: 1, completion: $0) }
            } else {
                _ = try await service.uploadCover(file, of: 1) { _ in }
            }
            #expect(try await service.fetchBooks().first?.cover?.size == 10)
            #expect(try await service.fetchPage(1).books.first?.cover?.size == 10)
        }
    }

    @Test func aLoadThatBeganBeforeAnOwnWriteIsSeenByNoLaterCaller() async throws {
        let client = SlowShelf()
        let service = RemoteBookService(client: client, clock: TestClock())
        async let before = service.fetchPage(1)
        var loads = client.loads.makeAsyncIterator()
        let load = try #require(await loads.next())
        _ = try await service.add(Self.dune)
        async let page = service.fetchPage(1)
        async let books = service.fetchBooks()
        // The first load ends with what it has read, and the ones after it read again.
        load.open()
        for _ in 1...2 { await loads.next()?.open() }
        #expect(try await before.books.isEmpty)
        #expect(try await page.books.map(\.title) == ["Dune"])
        #expect(try await books.map(\.title) == ["Dune"])
    }

    @Test func aWriteThatFailsMayHaveBeenDone() async throws {
        let client = SlowShelf(losesAnswers: true)
        let service = RemoteBookService(client: client, clock: TestClock())
        var loads = client.loads.makeAsyncIterator()
        async let before = service.fetchBooks()
        await loads.next()?.open()
        #expect(try await before.isEmpty)
        await #expect(throws: EndpointError.self) { try await service.add(Self.dune) }
        async let after = service.fetchBooks()
        await loads.next()?.open()
        #expect(try await after.map(\.title) == ["Dune"])
    }

    @Test func aStaleListIsShownAtOnceWhileANewOneIsLoaded() async throws {
        let client = SlowShelf()
        let clock = TestClock()
        let service = RemoteBookService(client: client, clock: clock)
        var loads = client.loads.makeAsyncIterator()
        async let first = service.fetchPage(1)
        await loads.next()?.open()
        #expect(try await first.books.isEmpty)
        client.add(Self.dune)
        await clock.advance(by: RemoteBookService.listPolicy.timeToLive)
        // Without waiting for the load that it begins.
        #expect(try await service.fetchPage(1).books.isEmpty)
        let refresh = try #require(await loads.next())
        #expect(try await service.fetchPage(1).books.isEmpty)
        refresh.open()
        await clock.advance(by: RemoteBookService.listPolicy.staleWhileRevalidate + .seconds(1))
        // Too old to be shown now: the refreshed list, or a load if the refresh has ended before.
        async let last = service.fetchPage(1)
        let opening = Task { [loads] in
            var loads = loads
            await loads.next()?.open()
        }
        #expect(try await last.books.map(\.title) == ["Dune"])
        opening.cancel()
    }

    @Test func aChangeOfTheFeedEndsTheListsFromBeforeIt() async throws {
        try await BookServer.whileRunning { server in
            let service = RemoteBookService(client: server.client(), clock: TestClock())
            let other = RemoteBookService(client: server.client())
            let lifetime = AsyncLifetime()
            let (changes, continuation) = AsyncStream.makeStream(of: Change.self)
            service.follow(ChangeFeed(client: server.client(), after: 0), in: lifetime) { continuation.yield($0) }
            let count = try await service.fetchBooks().count
            _ = try await other.add(Self.dune)
            #expect(await changes.first { _ in true }?.book.title == "Dune")
            #expect(try await service.fetchBooks().count == count + 1)
            withExtendedLifetime(lifetime) {}
        }
    }
}

/// A shelf of one page. A load reads the books at its beginning, and ends when a test says so.
private final class SlowShelf: APIClient {
    let completionQueue = DispatchQueue(label: "test")
    /// A gate for each load that begins.
    let loads: AsyncStream<Gate>
    private let continuation: AsyncStream<Gate>.Continuation
    private let losesAnswers: Bool
    private let lock = NSLock()
    // Only under the lock.
    private nonisolated(unsafe) var books: [Book] = []

    /// Creates a service.
    ///
    /// - Parameter losesAnswers: Whether a book is added, but the answer does not reach the client.
    init(losesAnswers: Bool = false) {
        self.losesAnswers = losesAnswers
        (loads, continuation) = AsyncStream.makeStream()
    }

    @discardableResult
    func add(_ book: NewBook) -> Book {
        lock.withLock {
            books.append(Book(id: books.count + 1, title: book.title, author: book.author, year: book.year))
            return books[books.count - 1]
        }
    }

    func request<E: Endpoint>(
        _ endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> E.Content {
        if let endpoint = endpoint as? AddEndpoint {
            let book = add(endpoint.book)
            if losesAnswers { throw EndpointError(.transport) }
            return try #require(book as? E.Content)
        }
        let page = BookPage(books: lock.withLock { books }, page: 1, pages: 1)
        let gate = Gate()
        continuation.yield(gate)
        try await gate.wait()
        return try #require(page as? E.Content)
    }

    func upload<E: UploadEndpoint>(
        _ endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> E.Content { throw EndpointError(.request) }
}
