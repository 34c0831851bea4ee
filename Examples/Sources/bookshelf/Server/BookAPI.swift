import FlyingFox
import FlyingSocks
import Foundation
import TaskControl

/// The answers of the server, behind the handling that all requests have in common: the token, the pace, and the planned faults.
final class BookAPI: Sendable {
    typealias Handler = @Sendable (HTTPRequest) async throws -> HTTPResponse

    let settings: ServerSettings
    let shelf: Shelf
    let tokens: Tokens
    private let asked = Occurrences()
    private let lifetime = AsyncLifetime(name: "heartbeats")

    init(settings: ServerSettings, shelf: Shelf) {
        self.settings = settings
        self.shelf = shelf
        tokens = Tokens(lifetime: settings.tokenLifetime, clock: settings.clock)
    }

    var routes: [(String, Handler)] {
        [
            ("POST /login", { [self] in try await answer($0, needsToken: false, login) }),
            ("GET /books", { [self] in try await answer($0, list) }),
            ("GET /books/search", { [self] in try await answer($0, search) }),
            ("POST /books", { [self] in try await answer($0, add) }),
            ("PUT /books/:id/cover", { [self] in try await answer($0, takeCover) }),
            ("GET /books/:id/cover", { [self] in try await answer($0, giveCover) }),
            ("GET /changes", { [self] in try await answer($0, changes, broken: changesBrokenOff) }),
            (
                "*",
                { [self] in
                    try await answer($0, needsToken: false) { _ in .problem(.notFound, "there is no such page") }
                }
            ),
        ]
    }

    /// Sends clients that wait for changes a sign of life now and then.
    func open() {
        lifetime.addTask(name: "heartbeat") { [shelf, settings] in
            while true {
                try await settings.clock.sleep(for: settings.heartbeat)
                await shelf.signal()
            }
        }
    }

    /// Ends the streams that would never end.
    func close() async {
        await shelf.close()
        await tokens.expireAll()
        await lifetime.shutdown(grace: .zero)
    }

    /// Answers a request, unless it is not allowed to be asked or something goes wrong on purpose.
    ///
    /// - Parameter broken: The answer if the reply must break off. `nil`: the usual answer, of which half of the body is sent.
    private func answer(
        _ request: HTTPRequest,
        needsToken: Bool = true,
        _ handler: @escaping Handler,
        broken: Handler? = nil
    ) async throws -> HTTPResponse {
        let name = "\(request.method.rawValue) \(request.path)"
        try await settings.pace(.request(name))
        if needsToken, await !tokens.accepts(authorization: request.headers[.authorization]) {
            try await skipBody(of: request, name)
            return told(name, .problem(.unauthorized, "log in first: POST /login"))
        }
        switch settings.faults.fault(for: request.identity, count: await asked.next(request.identity)) {
        case nil:
            return told(name, try await handled(request, name, handler))
        case .delay:
            try await settings.clock.sleep(for: settings.faults.delay)
            return told(name, try await handled(request, name, handler))
        case .unavailable:
            try await skipBody(of: request, name)
            settings.onEvent(ServerEvent(request: name, outcome: .refused))
            var response = HTTPResponse.problem(.serviceUnavailable, "unreliable, as it was told to be")
            response.headers[HTTPHeader("Retry-After")] = "\(settings.faults.retryAfter)"
            return response
        case .droppedReply:
            let response = try await handled(request, name, broken ?? handler)
            settings.onEvent(ServerEvent(request: name, outcome: .dropped))
            return broken == nil ? try await response.brokenOff() : response
        }
    }

    private func handled(_ request: HTTPRequest, _ name: String, _ handler: Handler) async throws -> HTTPResponse {
        do {
            return try await handler(request)
        } catch let error as Abandoned {
            settings.onEvent(ServerEvent(request: name, outcome: .abandoned(received: error.received)))
            throw error
        } catch is DecodingError {
            return .problem(.badRequest, "the body is not the JSON that is expected here")
        }
    }

    private func told(_ name: String, _ response: HTTPResponse) -> HTTPResponse {
        settings.onEvent(ServerEvent(request: name, outcome: .answered(response.statusCode.code)))
        return response
    }

    /// Reads the body that a refused request sends nevertheless: it must be read before the next request on its connection.
    private func skipBody(of request: HTTPRequest, _ name: String) async throws {
        var received = 0
        do {
            for try await piece in request.bodySequence { received += piece.count }
        } catch {
            settings.onEvent(ServerEvent(request: name, outcome: .abandoned(received: received)))
            throw error
        }
    }
}

/// The client left before it had sent everything.
struct Abandoned: Error {
    let received: Int
}

/// A counter of how often each request was made.
private actor Occurrences {
    private var counts: [String: Int] = [:]

    func next(_ name: String) -> Int {
        defer { counts[name, default: 0] += 1 }
        return counts[name, default: 0]
    }
}

extension HTTPRequest {
    /// The identity of the request: method, path and query.
    fileprivate var identity: String {
        let query = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        return "\(method.rawValue) \(path)?\(query)"
    }
}

extension HTTPResponse {
    static func json(_ value: some Encodable, status: HTTPStatusCode = .ok) throws -> HTTPResponse {
        let body = try JSONEncoder().encode(value)
        return HTTPResponse(statusCode: status, headers: [.contentType: "application/json"], body: body)
    }

    /// Returns a response that describes a problem.
    ///
    /// - Parameter title: The description of the problem for people (RFC 9457).
    static func problem(_ status: HTTPStatusCode, _ title: String) -> HTTPResponse {
        let body = try? JSONEncoder().encode(["title": title])
        return HTTPResponse(
            statusCode: status,
            headers: [.contentType: "application/problem+json"],
            body: body ?? Data()
        )
    }

    /// Returns the same response, but only half of its body arrives.
    func brokenOff() async throws -> HTTPResponse {
        let body = try await bodyData
        var response = self
        response.payload = .httpBody(HTTPBodySequence(from: HalfABody(body: body), count: max(1, body.count)))
        return response
    }
}

/// A sequence of half of a body, and then an error: the server closes the connection.
private struct HalfABody: AsyncBufferedSequence {
    typealias Element = UInt8

    let body: Data

    func makeAsyncIterator() -> Iterator { Iterator(half: body.prefix(body.count / 2)) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        var half: Data?

        mutating func nextBuffer(suggested count: Int) async throws -> Data? {
            guard let half = half.take() else { throw SocketError.disconnected }
            return half
        }

        mutating func next() async throws -> UInt8? {
            preconditionFailure("The server sends pieces, not bytes.")
        }
    }
}
