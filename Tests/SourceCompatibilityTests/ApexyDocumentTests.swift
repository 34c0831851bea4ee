import TaskControlApexy
import TaskControlTesting
import Testing

// The document takes a client with completion handlers to async/await, and shows mistakes on its way. Here each of its steps has
// code that works in its place.

// MARK: "Inspect existing methods": the client's callback form, and the async one beside it

// Changed for the default isolation: an endpoint decodes its content on no actor.
#if MAIN_ACTOR_BY_DEFAULT
nonisolated private struct Book: Decodable, Equatable {
    var title: String
}
#else
private struct Book: Decodable, Equatable, Sendable {
    var title: String
}
#endif

private struct BookListEndpoint: Endpoint {
    typealias Content = [Book]

    func makeRequest() throws -> URLRequest { URLRequest(url: URL(string: "books")!) }
}

private struct BookUploadEndpoint: UploadEndpoint {
    typealias Content = Book

    func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
        (URLRequest(url: URL(string: "books")!), .data(Data()))
    }
}

// MARK: "Alamofire": the callback form came first, and the async one is made of it

/// The document wraps the progress in a class with a lock, and still loses a cancellation that comes between the start of the request and
/// the assignment of its progress. (Sendable, as clients are: what it has is constant.)
private class AlamofireClient: Client, @unchecked Sendable {
    let completionQueue = DispatchQueue(label: "completion")
    let began = Gate()
    let cancelled = Gate()
    let answer: Data?

    /// - Parameter answer: `nil`: none comes.
    init(answer: Data?) {
        self.answer = answer
    }

    func request<T>(
        _ endpoint: T,
        completionHandler: @escaping @Sendable (APIResult<T.Content>) -> Void
    ) -> Progress where T: Endpoint {
        let progress = Progress(totalUnitCount: 1)
        progress.cancellationHandler = { [cancelled] in
            completionHandler(.failure(URLError(.cancelled)))
            cancelled.open()
        }
        if let answer {
            completionQueue.async {
                progress.completedUnitCount = 1
                completionHandler(Result { try endpoint.content(from: nil, with: answer) })
            }
        }
        began.open()
        return progress
    }

    func request<T>(_ endpoint: T) async throws -> T.Content where T: Endpoint {
        try await withCancellableContinuation { continuation in
            request(endpoint) { continuation.resume(with: $0) }
        }
    }

    func upload<T>(_ endpoint: T) async throws -> T.Content where T: UploadEndpoint {
        try endpoint.content(from: nil, with: answer ?? Data())
    }

    // The two requirements of a client, which the document leaves out.

    func request<T>(_ endpoint: T, onProgress: (@Sendable (TransferProgress) -> Void)?) async throws -> T.Content
    where T: Endpoint { try await request(endpoint) }

    func upload<T>(_ endpoint: T, onProgress: (@Sendable (TransferProgress) -> Void)?) async throws -> T.Content
    where T: UploadEndpoint { try await upload(endpoint) }
}

// MARK: "URLSession": the client does the work that the document writes by hand

/// Carries what the document's `session.data(for:)` would.
private struct CannedTransport: HTTPTransport {
    var status = 200
    var body = Data(#"[{"title": "Emma"}]"#.utf8)

    nonisolated(nonsending) func withResponse<Value>(
        to request: HTTPTransportRequest,
        _ receive: nonisolated(nonsending) (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        let head = HTTPURLResponse(url: request.request.url!, statusCode: status, httpVersion: nil, headerFields: nil)!
        return try await receive(HTTPTransportResponse(head: head, body: HTTPResponseBody(body)))
    }
}

// MARK: "Services"

// Changed for language mode 6: the service that a view controller calls is `Sendable`.
#if swift(>=6) && !MAIN_ACTOR_BY_DEFAULT
private protocol BookService: Sendable {

    @discardableResult
    func fetchBooks(completion: @escaping @Sendable (Result<[Book], Error>) -> Void) -> Progress

    @available(macOS 12, iOS 15, watchOS 8, tvOS 15, *)
    func fetchBooks() async throws -> [Book]
}
#else
private protocol BookService {

    @discardableResult
    func fetchBooks(completion: @escaping @Sendable (Result<[Book], Error>) -> Void) -> Progress

    @available(macOS 12, iOS 15, watchOS 8, tvOS 15, *)
    func fetchBooks() async throws -> [Book]
}
#endif

private final class BookServiceImpl: BookService {

    let apiClient: Client

    init(apiClient: Client) {
        self.apiClient = apiClient
    }

    func fetchBooks(completion: @escaping @Sendable (Result<[Book], Error>) -> Void) -> Progress {
        let endpoint = BookListEndpoint()
        return apiClient.request(endpoint, completionHandler: completion)
    }

    @available(macOS 12, iOS 15, watchOS 8, tvOS 15, *)
    func fetchBooks() async throws -> [Book] {
        let endpoint = BookListEndpoint()
        return try await apiClient.request(endpoint)
    }
}

// MARK: "Using service in View Controller"

/// The screen, in place of a view controller.
@MainActor private final class Screen {
    private let bookService: BookService
    private var task: Any?  // to cancel it later, type is Any because properties cannot be marked as @available
    private var progress: Progress?
    private(set) var shown: [String] = []
    let hasShown = Gate()

    init(_ bookService: BookService) {
        self.bookService = bookService
    }

    func performRequest() {
        guard #available(macOS 12, iOS 15, watchOS 8, tvOS 15, *) else {
            performLegacyRequest()
            return
        }

        task = Task {
            do {
                let books = try await bookService.fetchBooks()
                show(books: books)
            } catch {
                show(error: error)
            }
        }
    }

    func performLegacyRequest() {
        progress = bookService.fetchBooks { result in
            Task { @MainActor in
                switch result {
                case .success(let books): self.show(books: books)
                case .failure(let error): self.show(error: error)
                }
            }
        }
    }

    func cancel() {
        if #available(macOS 12, iOS 15, watchOS 8, tvOS 15, *) {
            (task as? Task<Void, Never>)?.cancel()
        }
        progress?.cancel()
    }

    private func show(books: [Book]) {
        shown += books.map(\.title)
        hasShown.open()
    }

    private func show(error: Error) {
        shown.append("\(type(of: error))")
        hasShown.open()
    }
}

@Suite(.timeLimit(.minutes(15)))
struct ApexyDocumentTests {
    private static let books = Data(#"[{"title": "Emma"}]"#.utf8)

    private static func client(_ transport: CannedTransport = CannedTransport(), observer: ResponseObserver? = nil)
        -> URLSessionClient
    {
        URLSessionClient(
            requestAdapter: BaseRequestAdapter(baseURL: URL(string: "https://books.example")!),
            transport: transport,
            completionQueue: DispatchQueue(label: "completion"),
            responseObserver: observer
        )
    }

    @Test func aCallbackFormIsAwaited() async throws {
        let books = try await AlamofireClient(answer: Self.books).request(BookListEndpoint())
        #expect(books == [Book(title: "Emma")])
        let book = try await AlamofireClient(answer: Data(#"{"title": "Emma"}"#.utf8)).upload(BookUploadEndpoint())
        #expect(book == Book(title: "Emma"))
    }

    @Test func cancellingTheTaskCancelsTheProgress() async throws {
        let client = AlamofireClient(answer: nil)
        let task = Task { try await client.request(BookListEndpoint()) }
        try await client.began.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await client.cancelled.wait()
    }

    @Test func theObserverHearsOfEachAttemptBeforeTheCallerGoesOn() async throws {
        let log = OrderRecorder<String>()
        let observer: ResponseObserver = { request, response, data, error in
            log.record("\(request?.url?.path ?? "") \(response?.statusCode ?? 0) \(data?.count ?? 0) \(error == nil)")
        }
        _ = try await Self.client(observer: observer).request(BookListEndpoint())
        #expect(log.events == ["/books 200 19 true"])
        _ = try? await Self.client(CannedTransport(body: Data()), observer: observer).request(BookListEndpoint())
        #expect(log.events == ["/books 200 19 true", "/books 200 0 false"])
    }

    @Test func aServiceHasBothFormsOverOneClient() async throws {
        let service: BookService = BookServiceImpl(apiClient: Self.client())
        #expect(try await service.fetchBooks() == [Book(title: "Emma")])
        let done = Gate()
        service.fetchBooks { result in
            if (try? result.get()) == [Book(title: "Emma")] { done.open() }
        }
        try await done.wait()
    }

    @Test @MainActor func aScreenShowsWhatEitherFormBrings() async throws {
        for legacy in [false, true] {
            let screen = Screen(BookServiceImpl(apiClient: Self.client()))
            if legacy { screen.performLegacyRequest() } else { screen.performRequest() }
            try await screen.hasShown.wait()
            #expect(screen.shown == ["Emma"])
        }
    }

    @Test @MainActor func aScreenCancelsEitherForm() async throws {
        for legacy in [false, true] {
            let client = AlamofireClient(answer: nil)
            let screen = Screen(BookServiceImpl(apiClient: client))
            if legacy { screen.performLegacyRequest() } else { screen.performRequest() }
            try await client.began.wait()
            screen.cancel()
            try await screen.hasShown.wait()
            #expect(screen.shown == [legacy ? "URLError" : "CancellationError"])
        }
    }
}
