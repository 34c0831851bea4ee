import TaskControlHTTP

/// The books, wherever they are.
///
/// Each question has two forms: one with a completion handler and a `Progress`, for code that is older than `async`, and one to await. They ask
/// the same, are answered the same, and both can be cancelled: the first by its progress, the second by its task. A cancelled caller receives
/// `CancellationError`.
protocol BookService: Sendable {
    /// - Parameter completion: Called once, on the client's queue.
    /// - Returns: Cancels the call.
    @discardableResult
    func fetchBooks(completion: @escaping Completion<[Book]>) -> Progress

    /// All of them, in the order of their numbers.
    func fetchBooks() async throws -> [Book]

    @discardableResult
    func fetchPage(_ page: Int, completion: @escaping Completion<BookPage>) -> Progress

    func fetchPage(_ page: Int) async throws -> BookPage

    @discardableResult
    func search(_ text: String, completion: @escaping Completion<[Book]>) -> Progress

    /// Those whose title or author has the text in it.
    func search(_ text: String) async throws -> [Book]

    @discardableResult
    func add(_ book: NewBook, completion: @escaping Completion<Book>) -> Progress

    /// Added once, however often it has to be sent.
    func add(_ book: NewBook) async throws -> Book

    /// - Returns: The progress, which includes how much of the file has been sent.
    @discardableResult
    func uploadCover(_ file: URL, of book: Book.ID, completion: @escaping Completion<Book>) -> Progress

    /// - Parameter onProgress: Receives how much of the file has been sent; the count may begin again, if the file has to be sent again.
    func uploadCover(
        _ file: URL,
        of book: Book.ID,
        onProgress: @escaping @Sendable (_ sent: Int64) -> Void
    ) async throws -> Book
}

typealias Completion<Value> = @Sendable (Result<Value, any Error>) -> Void
