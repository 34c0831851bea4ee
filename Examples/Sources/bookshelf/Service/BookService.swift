import Foundation
import TaskControlHTTP

/// A service that reads and changes the books.
///
/// Each function has two forms: one with a completion handler and a `Progress`, for code that is older than `async`, and one to await. Both forms
/// send the same request, return the same result, and can be cancelled: the first through its progress, the second through its task. A cancelled
/// caller receives `CancellationError`.
protocol BookService: Sendable {
    /// Fetches all books, in the order of their numbers.
    ///
    /// - Parameter completion: Called once, on the client's queue.
    /// - Returns: The progress, which can cancel the call.
    @discardableResult
    func fetchBooks(completion: @escaping Completion<[Book]>) -> Progress

    /// Fetches all books, in the order of their numbers.
    func fetchBooks() async throws -> [Book]

    @discardableResult
    func fetchPage(_ page: Int, completion: @escaping Completion<BookPage>) -> Progress

    func fetchPage(_ page: Int) async throws -> BookPage

    @discardableResult
    func search(_ text: String, completion: @escaping Completion<[Book]>) -> Progress

    /// Fetches the books whose title or author contains a text.
    func search(_ text: String) async throws -> [Book]

    @discardableResult
    func add(_ book: NewBook, completion: @escaping Completion<Book>) -> Progress

    /// Adds a book. The book is added once, even if the request is sent several times.
    func add(_ book: NewBook) async throws -> Book

    /// Uploads the cover of a book.
    ///
    /// - Returns: The progress, which includes how much of the file has been sent.
    @discardableResult
    func uploadCover(_ file: URL, of book: Book.ID, completion: @escaping Completion<Book>) -> Progress

    /// Uploads the cover of a book.
    ///
    /// - Parameter onProgress: Receives how much of the file has been sent; the count may begin again, if the file has to be sent again.
    func uploadCover(
        _ file: URL,
        of book: Book.ID,
        onProgress: @escaping @Sendable (_ sent: Int64) -> Void
    ) async throws -> Book
}

typealias Completion<Value> = @Sendable (Result<Value, any Error>) -> Void
