import Foundation
import TaskControlCaching
import TaskControlFanOut
import TaskControlHTTP
import TaskControlSupervision

typealias Completion<Value> = @Sendable (Result<Value, any Error>) -> Void

/// The books of a server.
///
/// Each function has two forms: one to await, and one with a completion handler and a `Progress`, for code that is older than `async`. Both forms send
/// the same request, return the same result, and can be cancelled: the first through its task, the second through its progress. A cancelled caller
/// receives `CancellationError`.
///
/// Lists are kept for a while: see ``listPolicy``. A list that is requested after a write of this service has ended is never from before the write.
final class BookService: Sendable {
    private enum List: Hashable {
        case page(Int)
        case all
    }

    /// A list of the last 10 seconds is shown without asking, and one of the minute after that at once, while a newer one is loaded.
    static let listPolicy = CachePolicy(timeToLive: .seconds(10), staleWhileRevalidate: .seconds(60))

    private let client: any APIClient
    private let lists: CachedFlight<List, [BookPage]>

    /// Creates a service that sends requests with a client. The clock measures the age of the lists.
    init(client: any APIClient, clock: any Clock<Duration> = ContinuousClock()) {
        self.client = client
        lists = CachedFlight(name: "lists", capacity: 100, policy: Self.listPolicy, clock: clock) { list in
            if case .page(let page) = list { return [try await client.request(PageEndpoint(page: page))] }
            // The first page says how many there are.
            let first = try await client.request(PageEndpoint(page: 1))
            guard first.pages > 1 else { return [first] }
            let others = try await (2...first.pages).concurrentMap(limit: 8) { page in
                try await client.request(PageEndpoint(page: page))
            }
            return [first] + others
        }
    }

    func fetchBooks() async throws -> [Book] { try await lists.value(for: .all).flatMap(\.books) }

    func fetchPage(_ page: Int) async throws -> BookPage {
        // A list of one page, as it is loaded above.
        try await lists.value(for: .page(page))[0]
    }

    /// Fetches the books whose title or author contains a text.
    func search(_ text: String) async throws -> [Book] {
        try await client.request(SearchEndpoint(text: text))
    }

    /// Adds a book. The book is added once, even if the request is sent several times.
    func add(_ book: NewBook) async throws -> Book {
        // Also after an error: the server may have added the book, and only its answer was lost.
        defer { lists.removeAll() }
        return try await client.request(AddEndpoint(book: book))
    }

    /// Uploads the cover of a book. `onProgress` receives how much of the file has been sent; the count may begin again, if the file has to be sent again.
    func uploadCover(
        _ file: URL,
        of book: Book.ID,
        onProgress: @escaping @Sendable (_ sent: Int64) -> Void = { _ in }
    ) async throws -> Book {
        defer { lists.removeAll() }
        return try await client.upload(CoverUploadEndpoint(book: book, file: file), onProgress: { onProgress($0.sent) })
    }

    /// Follows a feed for as long as the lifetime, so that lists are never from before a change that has arrived.
    ///
    /// `perform` receives each change, when the lists from before it are gone.
    @discardableResult
    func follow(
        _ feed: ChangeFeed,
        in lifetime: AsyncLifetime,
        perform: @escaping @Sendable (Change) async -> Void = { _ in }
    ) -> SupervisedWork {
        feed.start(in: lifetime) { [lists] change in
            lists.removeAll()
            await perform(change)
        }
    }
}

// MARK: The same with completion handlers, which are called once, on the client's queue

extension BookService {
    func fetchBooks(completion: @escaping Completion<[Book]>) -> Progress {
        start(completion) { try await self.fetchBooks() }
    }

    func fetchPage(_ page: Int, completion: @escaping Completion<BookPage>) -> Progress {
        start(completion) { try await self.fetchPage(page) }
    }

    func search(_ text: String, completion: @escaping Completion<[Book]>) -> Progress {
        client.request(SearchEndpoint(text: text), completionHandler: completion)
    }

    func add(_ book: NewBook, completion: @escaping Completion<Book>) -> Progress {
        start(completion) { try await self.add(book) }
    }

    func uploadCover(_ file: URL, of book: Book.ID, completion: @escaping Completion<Book>) -> Progress {
        client.upload(CoverUploadEndpoint(book: book, file: file)) { [lists] result in
            lists.removeAll()
            completion(result)
        }
    }

    /// Awaits what is more than one request, in a task that the progress cancels.
    private func start<Value: Sendable>(
        _ completion: @escaping Completion<Value>,
        _ call: @escaping @Sendable () async throws -> Value
    ) -> Progress {
        Progress.start(completionQueue: client.completionQueue) { _ in
            try await call()
        } completionHandler: {
            completion($0)
        }
    }
}

/// Awaits a call with a completion handler, for code that has only that. The caller's cancellation is the call's.
nonisolated(nonsending) func answer<Value: Sendable>(
    _ call: (@escaping Completion<Value>) -> Progress
) async throws -> Value {
    try await withCancellableContinuation { continuation in
        call { continuation.resume(with: $0) }
    }
}
