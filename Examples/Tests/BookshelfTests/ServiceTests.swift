import TaskControlHTTP
import TaskControlTesting
import Testing

@testable import bookshelf

/// Both forms of the service, over a real server.
@Suite(.oneServerAtATime, .timeLimit(.minutes(15)))
struct ServiceTests {
    @Test func bothFormsGiveTheSameAnswers() async throws {
        let folder = try TestFolder()
        let file = try folder.file("cover.png", bytes: 300_000)
        try await BookServer.whileRunning { server in
            let service = RemoteBookService(client: server.client())
            let all = try await service.fetchBooks()
            #expect(all.map(\.title) == ClassicBooks.all.map(\.title))
            #expect(all.map(\.id) == Array(1...all.count))
            #expect(try await awaited { service.fetchBooks(completion: $0) } == all)

            #expect(try await service.fetchPage(2).books == Array(all[5..<10]))
            #expect(try await awaited { service.fetchPage(2, completion: $0) }.books == Array(all[5..<10]))

            #expect(try await service.search("BRONTE").map(\.title) == ["Jane Eyre", "Wuthering Heights"])
            #expect(try await awaited { service.search("我是", completion: $0) }.map(\.id) == [20])

            let dune = NewBook(title: "Dune & more", author: "Frank Herbert", year: 1965)
            #expect(try await service.add(dune).id == 24)
            #expect(try await awaited { service.add(dune, completion: $0) }.id == 25)

            let cover = Cover(size: 300_000, checksum: Checksum(repeatElement(7, count: 300_000)))
            #expect(try await service.uploadCover(file, of: 24) { _ in }.cover == cover)
            #expect(try await awaited { service.uploadCover(file, of: 25, completion: $0) }.cover == cover)
        }
    }

    @Test func aBookThatIsNotThereIsAnErrorInBothForms() async throws {
        let folder = try TestFolder()
        let file = try folder.file("cover.png", bytes: 10)
        try await BookServer.whileRunning { server in
            let service = RemoteBookService(client: server.client())
            for result in [
                await Result.of { try await service.uploadCover(file, of: 99) { _ in } },
                await Result.of { try await awaited { service.uploadCover(file, of: 99, completion: $0) } },
            ] {
                #expect { try result.get() } throws: { ($0 as? EndpointError)?.statusCode == 404 }
            }
        }
    }

    @Test(arguments: [true, false])
    func aCancelledCallEndsWhileTheServerStillThinks(byProgress: Bool) async throws {
        let (asked, held) = (Gate(), Gate())
        var settings = ServerSettings()
        settings.pace = { pace in
            guard case .request("GET /books/search") = pace else { return }
            asked.open()
            await held.waitIgnoringCancellation()
        }
        try await BookServer.whileRunning(settings) { server in
            defer { held.open() }
            let service = RemoteBookService(client: server.client())
            if byProgress {
                let (results, told) = AsyncStream<Result<[Book], any Error>>.makeStream()
                let progress = service.search("emma") { told.yield($0) }
                try await asked.wait()
                progress.cancel()
                let result = await results.first { _ in true }
                #expect(throws: CancellationError.self) { try result?.get() }
            } else {
                let task = Task { try await service.search("emma") }
                try await asked.wait()
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }

    @Test func aProgressThatIsCancelledAtOnceAnswersOnce() async throws {
        let client = NoClient()
        let service = RemoteBookService(client: client)
        for _ in 0..<200 {
            let (results, told) = AsyncStream<Result<[Book], any Error>>.makeStream()
            service.fetchBooks { result in told.yield(result) }.cancel()
            let result = await results.first { _ in true }
            #expect(throws: CancellationError.self) { try result?.get() }
        }
    }

    @Test(arguments: [true, false])
    func aCancelledUploadLeavesTheServerAndNothingThere(byProgress: Bool) async throws {
        let folder = try TestFolder()
        let file = try folder.file("cover.png", bytes: 40_000_000)
        let (arriving, held, events) = (Gate(), Gate(), ServerEvents())
        var settings = ServerSettings.watched(by: events)
        settings.pace = { pace in
            guard case .piece = pace else { return }
            arriving.open()
            await held.waitIgnoringCancellation()
        }
        try await BookServer.whileRunning(settings) { server in
            let service = RemoteBookService(client: server.client())
            if byProgress {
                let (results, told) = AsyncStream<Result<Book, any Error>>.makeStream()
                let progress = service.uploadCover(file, of: 3) { told.yield($0) }
                try await arriving.wait()
                progress.cancel()
                let result = await results.first { _ in true }
                #expect(throws: CancellationError.self) { try result?.get() }
            } else {
                let task = Task { try await service.uploadCover(file, of: 3) { _ in } }
                try await arriving.wait()
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            held.open()
            let end = await events.next { $0.request == "PUT /books/3/cover" }
            guard case .abandoned(let received)? = end?.outcome else {
                Issue.record("the server saw \(String(describing: end))")
                return
            }
            #expect(received < 40_000_000)
            #expect(await server.shelf.all[2].cover == nil)
        }
    }
}

extension BookServer {
    func client(attempts: Int = 4, timeLimit: Duration? = nil, clock: any Clock<Duration> = ContinuousClock())
        -> EndpointClient
    {
        var connection = ServerConnection(server: address)
        connection.attempts = attempts
        connection.timeLimit = timeLimit
        connection.clock = clock
        return connection.client()
    }
}

/// Awaits a call with a completion handler, without being able to cancel it.
func awaited<Value: Sendable>(_ call: (@escaping Completion<Value>) -> Progress) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        _ = call { continuation.resume(with: $0) }
    }
}

/// Answers no request, until it is cancelled.
private final class NoClient: APIClient {
    let completionQueue = DispatchQueue(label: "test")

    func request<E: Endpoint>(
        _ endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> E.Content { try await forever() }

    func upload<E: UploadEndpoint>(
        _ endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> E.Content { try await forever() }

    private func forever<Value>() async throws -> Value {
        try await Gate().wait()
        throw CancellationError()
    }
}
