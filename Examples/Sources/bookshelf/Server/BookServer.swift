import FlyingFox
import FlyingSocks
import Foundation
import Support
import TaskControl

/// The books' HTTP server, with all of its state in memory.
final class BookServer: Sendable {
    struct Settings: Sendable {
        /// The port; 0 for any free port.
        var port: UInt16 = 0
        var books = NewBook.classics
        var tokenLifetime: Duration = .seconds(60)
        var faults = FaultPlan()
        /// Called before each request is handled, and after each piece of a cover that arrives, with a text such as "GET /books" or "piece". The client
        /// waits until it returns: a sleep makes the server slow, and a test may hold it.
        var pace: @Sendable (String) async throws -> Void = { _ in }
        /// Receives the end of each request, such as "GET /books: 200".
        var onEvent: @Sendable (String) -> Void = { _ in }
    }

    let shelf: Shelf
    private let settings: Settings
    private let (tokens, asked) = (Observed([String: ContinuousClock.Instant]()), Observed([String: Int]()))

    private init(_ settings: Settings) { (self.settings, shelf) = (settings, Shelf(books: settings.books)) }

    /// Runs a server for as long as `body` runs.
    static func whileRunning<Result: Sendable>(
        _ settings: Settings = Settings(),
        _ body: @Sendable (_ address: URL, BookServer) async throws -> Result
    ) async throws -> Result {
        let server = BookServer(settings)
        return try await LocalServer.whileRunning(port: settings.port, routes: server.routes) { address in
            let lifetime = AsyncLifetime(name: "heartbeats")
            // Shows clients that wait for changes that the server is still there.
            lifetime.addTask(name: "heartbeat") {
                while true {
                    try await Task.sleep(for: .seconds(5))
                    await server.shelf.signal()
                }
            }
            let result = await Swift.Result.of { try await body(address, server) }
            await server.shelf.close()
            await lifetime.shutdown(grace: .zero)
            return try result.get()
        }
    }

    /// Ends all tokens before their time.
    func expireAllTokens() { tokens.update { $0.removeAll() } }

    private var routes: [(String, LocalServer.Handler)] {
        [
            ("POST /login", { [self] in try await answer($0, needsToken: false, login) }),
            ("GET /books", { [self] in try await answer($0, list) }),
            ("GET /books/search", { [self] in try await answer($0, search) }),
            ("POST /books", { [self] in try await answer($0, add) }),
            ("PUT /books/:id/cover", { [self] in try await answer($0, takeCover) }),
            ("GET /changes", { [self] in try await answer($0, changes) }),
        ]
    }

    /// Answers a request, unless it is not allowed to be asked or something goes wrong on purpose.
    private func answer(
        _ request: HTTPRequest,
        needsToken: Bool = true,
        _ handler: (HTTPRequest, _ breaksOff: Bool) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let name = "\(request.method.rawValue) \(request.path)"
        try await settings.pace(name)
        let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        let token = request.headers[.authorization].map { String($0.dropFirst("Bearer ".count)) }
        var (response, end): (HTTPResponse, String)
        do {
            if needsToken, tokens.value[token ?? ""].map({ $0 > .now }) != true {
                // The body that a refused request sends must be read before the next request on its connection.
                _ = try await receive(request)
                response = .problem(.unauthorized, "log in first: POST /login")
                end = "401"
            } else {
                let count = asked.update { counts in
                    counts["\(name)?\(query)", default: -1] += 1
                    return counts["\(name)?\(query)", default: 0]
                }
                let fault = settings.faults.fault(for: "\(name)?\(query)", count: count)
                if fault == .unavailable {
                    _ = try await receive(request)
                    response = .problem(.serviceUnavailable, "unreliable, as it was told to be")
                    response.headers[HTTPHeader("Retry-After")] = "\(settings.faults.retryAfter)"
                    end = "503, on purpose"
                } else {
                    response = try await handler(request, fault == .droppedReply)
                    end = fault == nil ? "\(response.statusCode.code)" : "done, and the reply broken off on purpose"
                }
            }
        } catch let error as Abandoned {
            settings.onEvent("\(name): the client left after \(error.received) bytes")
            throw error
        } catch is DecodingError {
            (response, end) = (.problem(.badRequest, "the body is not the JSON that is expected here"), "400")
        }
        settings.onEvent("\(name): \(end)")
        return response
    }

    // MARK: Answers

    private func login(_ request: HTTPRequest, _ breaksOff: Bool) async throws -> HTTPResponse {
        guard try JSONDecoder().decode(Account.self, from: await request.bodyData) == Account() else {
            return .problem(.forbidden, "user or password is wrong")
        }
        let token = UUID().uuidString
        tokens.update { $0[token] = .now + settings.tokenLifetime }
        return try .json(Login(token: token), breaksOff)
    }

    private func list(_ request: HTTPRequest, _ breaksOff: Bool) async throws -> HTTPResponse {
        guard let page = await shelf.page(request.query["page"].flatMap { Int($0) } ?? 1) else {
            return .problem(.notFound, "there is no such page")
        }
        return try .json(page, breaksOff)
    }

    private func search(_ request: HTTPRequest, _ breaksOff: Bool) async throws -> HTTPResponse {
        let text = request.query["q"] ?? ""
        let found = await shelf.books.filter { "\($0.title) \($0.author)".localizedStandardContains(text) }
        return try .json(found, breaksOff)
    }

    private func add(_ request: HTTPRequest, _ breaksOff: Bool) async throws -> HTTPResponse {
        let book = try JSONDecoder().decode(NewBook.self, from: await request.bodyData)
        let key = request.headers[HTTPHeader("Idempotency-Key")] ?? UUID().uuidString
        return try .json(await shelf.add(book, key: key), breaksOff)
    }

    /// Takes a cover as it arrives, piece by piece. Nothing of it is kept if it does not arrive completely.
    private func takeCover(_ request: HTTPRequest, _ breaksOff: Bool) async throws -> HTTPResponse {
        let size = try await receive(request)
        if let expected = request.headers[.contentLength], Int(expected) != size { throw Abandoned(received: size) }
        guard let id = request.routeParameters["id", of: Int.self], await shelf.hasBook(id) else {
            return .problem(.notFound, "there is no such book")
        }
        return try .json(await shelf.take(cover: size, for: id), breaksOff)
    }

    /// Receives the body of a request.
    ///
    /// - Throws: ``Abandoned``, if the client left.
    private func receive(_ request: HTTPRequest) async throws -> Int {
        var (received, paced) = (0, 0)
        var pieces = request.bodySequence.makeAsyncIterator()
        while true {
            let piece: Data?
            do { piece = try await pieces.next() } catch { throw Abandoned(received: received) }
            guard let piece else { return received }
            received += piece.count
            if received - paced >= 256 << 10 {
                paced = received
                try await settings.pace("piece")
            }
        }
    }

    /// Sends a line of JSON for each change after the given one, as the changes come, and an empty line at intervals, which shows each side that the
    /// other is still connected.
    private func changes(_ request: HTTPRequest, _ breaksOff: Bool) async throws -> HTTPResponse {
        let last = await shelf.lastChange
        // More than there is: the client knows another server's.
        let start = min(request.query["after"].flatMap { Int($0) } ?? last, last)
        return HTTPResponse(
            statusCode: .ok,
            headers: [.contentType: "application/x-ndjson", HTTPHeader(ChangesEndpoint.position): "\(start)"],
            body: HTTPBodySequence(from: ChangeLines(last: start, shelf: shelf, breaksOff: breaksOff))
        )
    }
}

/// The client left before it had sent everything.
private struct Abandoned: Error {
    let received: Int
}

extension HTTPResponse {
    fileprivate static func json(_ value: some Encodable, _ breaksOff: Bool) throws -> HTTPResponse {
        let body = try JSONEncoder().encode(value)
        return HTTPResponse(
            statusCode: .ok,
            headers: [.contentType: "application/json"],
            body: HTTPBodySequence(from: AnswerBytes(body, breaksOff: breaksOff), count: body.count)
        )
    }

    /// Returns a response that describes a problem for people (RFC 9457).
    fileprivate static func problem(_ status: HTTPStatusCode, _ title: String) -> HTTPResponse {
        let body = try? JSONEncoder().encode(["title": title])
        return HTTPResponse(
            statusCode: status,
            headers: [.contentType: "application/problem+json"],
            body: body ?? Data()
        )
    }
}

/// The lines of changes, made when the connection has room for them.
private struct ChangeLines: AsyncBufferedSequence {
    typealias Element = UInt8

    let last: Int
    let shelf: Shelf
    let breaksOff: Bool

    func makeAsyncIterator() -> Iterator { Iterator(last: last, shelf: shelf, breaksOff: breaksOff) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        var last: Int
        let shelf: Shelf
        let breaksOff: Bool
        var news: AsyncStream<Void>.Iterator?

        mutating func nextBuffer(suggested count: Int) async throws -> Data? {
            if news == nil {
                news = await shelf.news().makeAsyncIterator()
            } else if breaksOff {
                throw SocketError.disconnected
            }
            // Nothing new: the time has come for an empty line.
            guard await news?.next(isolation: #isolation) != nil else { return nil }
            let changes = await shelf.changes(after: last)
            last = changes.last?.number ?? last
            let lines = try changes.map { try JSONEncoder().encode($0) } + (changes.isEmpty ? [Data()] : [])
            return Data(lines.flatMap { $0 + [UInt8(ascii: "\n")] })
        }

        mutating func next() async throws -> UInt8? { preconditionFailure("The server sends pieces, not bytes.") }
    }
}
