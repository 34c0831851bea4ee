import Foundation
import TaskControlHTTP
import TaskControlTesting
import Testing

@testable import bookshelf

/// Uploads of many covers, a few at a time.
@Suite(.timeLimit(.minutes(15)))
struct UploadTests {
    private static let server = URL(string: "http://127.0.0.1:8080")!

    private static func board(_ covers: [CoverUpload]) -> UploadBoard {
        UploadBoard(covers.map { .init(name: $0.name, size: 100) }, server: server, screen: Paper().screen())
    }

    @Test(arguments: [1, 3, 16])
    func atMostTheGivenNumberOfUploadsRunAtTheSameTime(limit: Int) async throws {
        let covers = (1...12).map { CoverUpload(book: $0, path: "\($0).png") }
        let board = Self.board(covers)
        let uploads = HeldUploads()
        let service = RemoteBookService(client: uploads)
        let uploading = Task { try await covers.upload(with: service, atMost: limit, board) }
        // Each upload ends only after as many others run as can.
        var (running, ended) = ([Gate](), 0)
        for await gate in uploads.begun {
            running.append(gate)
            guard running.count == min(limit, covers.count - ended) else { continue }
            running.removeFirst().open()
            ended += 1
            // The last ones run alone: no other follows.
            if ended + running.count == covers.count {
                for gate in running { gate.open() }
                break
            }
        }
        try await uploading.value
        #expect(await board.end().isDone)
        #expect(uploads.books == Array(1...12))
        #expect(uploads.peak == min(limit, covers.count))
    }

    @Test func anUploadThatFailsDoesNotEndTheOthers() async throws {
        let covers = (1...6).map { CoverUpload(book: $0, path: "\($0).png") }
        let board = Self.board(covers)
        let uploads = HeldUploads(failing: [2, 5])
        let service = RemoteBookService(client: uploads)
        let uploading = Task { try await covers.upload(with: service, atMost: 2, board) }
        for await gate in uploads.begun.prefix(covers.count) { gate.open() }
        try await uploading.value
        #expect(await board.end().sentence == "uploaded 4 of 6; not uploaded: 2.png, 5.png")
    }

    @Test func afterACancellationNoOtherUploadBegins() async throws {
        let covers = (1...6).map { CoverUpload(book: $0, path: "\($0).png") }
        let board = Self.board(covers)
        let uploads = HeldUploads()
        let service = RemoteBookService(client: uploads)
        let uploading = Task { try await covers.upload(with: service, atMost: 2, board) }
        for await _ in uploads.begun.prefix(2) {}
        uploading.cancel()
        await #expect(throws: CancellationError.self) { try await uploading.value }
        #expect(uploads.books == [1, 2])
        #expect(await board.end().sentence.hasPrefix("uploaded 0 of 6"))
    }
}

/// A client whose uploads end when a test lets them end, and that counts the uploads that run at the same time.
private final class HeldUploads: APIClient {
    let completionQueue = DispatchQueue(label: "test")
    /// A gate for each upload that begins.
    let begun: AsyncStream<Gate>
    private let continuation: AsyncStream<Gate>.Continuation
    private let failing: Set<Book.ID>
    private let lock = NSLock()
    // Only under the lock.
    private nonisolated(unsafe) var state = (books: [Book.ID](), running: 0, peak: 0)

    /// Creates a client.
    ///
    /// - Parameter failing: The books whose uploads fail.
    init(failing: Set<Book.ID> = []) {
        self.failing = failing
        (begun, continuation) = AsyncStream.makeStream()
    }

    /// The books whose covers were uploaded, or began to be, by their numbers.
    var books: [Book.ID] { lock.withLock { state.books.sorted() } }
    /// The highest number of uploads that ran at the same time.
    var peak: Int { lock.withLock { state.peak } }

    func request<E: Endpoint>(
        _ endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> E.Content { throw CancellationError() }

    func upload<E: UploadEndpoint>(
        _ endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> E.Content {
        let id = try #require(endpoint as? CoverUploadEndpoint).book
        lock.withLock {
            state.books.append(id)
            state.running += 1
            state.peak = max(state.peak, state.running)
        }
        defer { lock.withLock { state.running -= 1 } }
        let gate = Gate()
        continuation.yield(gate)
        try await gate.wait()
        if failing.contains(id) { throw EndpointError(.transport) }
        return try #require(Book(id: id, title: "", author: "", year: nil) as? E.Content)
    }
}
