import Foundation

/// The books, in memory; their covers in files of a folder.
actor Shelf {
    static let booksOnAPage = 5
    /// The number of handled requests that are remembered: more than the number of requests that clients send again at the same time.
    static let rememberedKeys = 10_000

    private var books: [Book] = []
    private var log: [Change] = []
    private var done: [String: Book] = [:]
    private var doneInOrder: [String] = []
    private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    private var listenerCount = 0
    private var isClosed = false
    private let folder: URL

    /// Creates a shelf with books.
    ///
    /// - Parameter folder: The folder for the covers.
    init(books: [NewBook], folder: URL) {
        self.folder = folder
        self.books = books.enumerated().map { number, book in
            Book(id: number + 1, title: book.title, author: book.author, year: book.year)
        }
    }

    var all: [Book] { books }

    /// Returns a page of books; `nil` if there is no such page.
    func page(_ page: Int) -> BookPage? {
        let pages = max(1, (books.count + Self.booksOnAPage - 1) / Self.booksOnAPage)
        guard (1...pages).contains(page) else { return nil }
        let onPage = books.dropFirst((page - 1) * Self.booksOnAPage).prefix(Self.booksOnAPage)
        return BookPage(books: Array(onPage), page: page, pages: pages)
    }

    /// Returns the books whose title or author contains a text, ignoring case and accents.
    func search(_ text: String) -> [Book] {
        books.filter { $0.title.localizedStandardContains(text) || $0.author.localizedStandardContains(text) }
    }

    /// Puts a book on the shelf, unless that was done before.
    ///
    /// - Parameter key: The idempotency key of the client, which is the same for all attempts.
    /// - Returns: The book that was added with this key; `nil`, if the key is that of another book.
    func add(_ book: NewBook, key: String?) -> Book? {
        if let key, let known = done[key] {
            let isTheSame = NewBook(title: known.title, author: known.author, year: known.year) == book
            return isTheSame ? known : nil
        }
        let added = Book(id: books.count + 1, title: book.title, author: book.author, year: book.year)
        books.append(added)
        if let key { remember(added, for: key) }
        announce(.added, added)
        return added
    }

    func cover(of id: Int) -> (cover: Cover, file: URL)? {
        guard books.indices.contains(id - 1), let cover = books[id - 1].cover else { return nil }
        return (cover, file(of: id))
    }

    func hasBook(_ id: Int) -> Bool { books.indices.contains(id - 1) }

    /// Takes a cover that has arrived. A cover that the book already has is not a change.
    ///
    /// - Parameter arrived: The file; it is moved.
    func take(_ cover: Cover, at arrived: URL, for id: Int) throws -> Book {
        _ = try? FileManager.default.removeItem(at: file(of: id))
        try FileManager.default.moveItem(at: arrived, to: file(of: id))
        if books[id - 1].cover != cover {
            books[id - 1].cover = cover
            announce(.cover, books[id - 1])
        }
        return books[id - 1]
    }

    /// Returns a path at which a cover is stored until all of it has arrived.
    nonisolated func placeToArrive() -> URL { folder.appending(path: UUID().uuidString) }

    private func file(of id: Int) -> URL { folder.appending(path: "\(id)") }

    private func remember(_ book: Book, for key: String) {
        done[key] = book
        doneInOrder.append(key)
        if doneInOrder.count > Self.rememberedKeys { done[doneInOrder.removeFirst()] = nil }
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
    func signal() {
        for listener in listeners.values { listener.yield() }
    }

    /// Ends the streams of changes: there will be no more changes.
    func close() {
        isClosed = true
        for listener in listeners.values { listener.finish() }
    }

    private func forget(_ listener: Int) {
        listeners[listener] = nil
    }

    private func announce(_ kind: Change.Kind, _ book: Book) {
        log.append(Change(number: log.count + 1, kind: kind, book: book))
        signal()
    }
}
