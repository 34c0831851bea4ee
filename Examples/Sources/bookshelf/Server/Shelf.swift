/// The books, in memory, with all changes.
actor Shelf {
    static let booksOnAPage = 5

    private(set) var books: [Book] = []
    private var log: [Change] = []
    private var done: [String: Book] = [:]
    private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    private var listenerCount = 0
    private var isClosed = false

    init(books: [NewBook]) {
        self.books = books.enumerated().map { Book(id: $0 + 1, title: $1.title, author: $1.author) }
    }

    /// Returns a page of books; `nil` if there is no such page.
    func page(_ page: Int) -> BookPage? {
        let pages = max(1, (books.count + Self.booksOnAPage - 1) / Self.booksOnAPage)
        guard (1...pages).contains(page) else { return nil }
        let onPage = books.dropFirst((page - 1) * Self.booksOnAPage).prefix(Self.booksOnAPage)
        return BookPage(books: Array(onPage), page: page, pages: pages)
    }

    /// Puts a book on the shelf, unless that was done before with this idempotency key, which is the same for all attempts of a request.
    func add(_ book: NewBook, key: String) -> Book {
        if let known = done[key] { return known }
        let added = Book(id: books.count + 1, title: book.title, author: book.author)
        books.append(added)
        done[key] = added
        announce(.added, added)
        return added
    }

    func hasBook(_ id: Int) -> Bool { books.indices.contains(id - 1) }

    /// Takes a cover. A cover that the book already has is not a change.
    func take(cover size: Int, for id: Int) -> Book {
        if books[id - 1].cover != size {
            books[id - 1].cover = size
            announce(.cover, books[id - 1])
        }
        return books[id - 1]
    }

    // MARK: Changes

    var lastChange: Int { log.count }

    func changes(after number: Int) -> [Change] { Array(log.dropFirst(max(0, number))) }

    /// Returns a stream with a signal after each change; signals that have not been received yet are merged into one.
    func news() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // There may be something already.
        continuation.yield()
        if isClosed { continuation.finish() }
        listenerCount += 1
        let id = listenerCount
        listeners[id] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { await self?.forget(id) }
        }
        return stream
    }

    /// Notifies clients that wait for changes that there may be some.
    func signal() { for listener in listeners.values { listener.yield() } }

    /// Ends the streams of changes: there will be no more changes.
    func close() {
        isClosed = true
        for listener in listeners.values { listener.finish() }
    }

    private func forget(_ listener: Int) { listeners[listener] = nil }

    private func announce(_ kind: Change.Kind, _ book: Book) {
        log.append(Change(number: log.count + 1, kind: kind, book: book))
        signal()
    }
}
