import TaskControlHTTP

/// The books of a server.
final class RemoteBookService: BookService {
    private let client: any Client

    init(client: any Client) {
        self.client = client
    }

    func fetchPage(_ page: Int) async throws -> BookPage {
        try await client.request(PageEndpoint(page: page))
    }

    func search(_ text: String) async throws -> [Book] {
        try await client.request(SearchEndpoint(text: text))
    }

    func add(_ book: NewBook) async throws -> Book {
        try await client.request(AddEndpoint(book: book))
    }

    func uploadCover(
        _ file: URL,
        of book: Book.ID,
        onProgress: @escaping @Sendable (_ sent: Int64) -> Void
    ) async throws -> Book {
        try await client.upload(CoverUploadEndpoint(book: book, file: file), onProgress: { onProgress($0.sent) })
    }

    /// The first page says how many there are; the others are asked for together.
    func fetchBooks() async throws -> [Book] {
        let first = try await fetchPage(1)
        guard first.pages > 1 else { return first.books }
        return try await withThrowingTaskGroup { group in
            for page in 2...first.pages {
                group.addTask { try await self.fetchPage(page) }
            }
            let others = try await group.reduce(into: []) { $0.append($1) }
            return ([first] + others.sorted { $0.page < $1.page }).flatMap(\.books)
        }
    }
}

// MARK: The same with completion handlers

extension RemoteBookService {
    func fetchPage(_ page: Int, completion: @escaping Completion<BookPage>) -> Progress {
        client.request(PageEndpoint(page: page), completionHandler: completion)
    }

    func search(_ text: String, completion: @escaping Completion<[Book]>) -> Progress {
        client.request(SearchEndpoint(text: text), completionHandler: completion)
    }

    func add(_ book: NewBook, completion: @escaping Completion<Book>) -> Progress {
        client.request(AddEndpoint(book: book), completionHandler: completion)
    }

    func uploadCover(_ file: URL, of book: Book.ID, completion: @escaping Completion<Book>) -> Progress {
        client.upload(CoverUploadEndpoint(book: book, file: file), completionHandler: completion)
    }

    /// More than one request: what is awaited above, in a task that the progress cancels.
    func fetchBooks(completion: @escaping Completion<[Book]>) -> Progress {
        Progress.start(completionQueue: client.completionQueue) { _ in
            try await self.fetchBooks()
        } completionHandler: {
            completion($0)
        }
    }
}
