import FlyingFox
import FlyingSocks
import Foundation

extension BookAPI {
    /// Sends a line of JSON for each change after the given one, as the changes come, and an empty line at intervals, which shows each side that the
    /// other is still connected.
    @Sendable func changes(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await changes(request, breaksOff: false)
    }

    /// Sends changes like `changes(_:)`, but breaks off the connection after the first lines.
    @Sendable func changesBrokenOff(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await changes(request, breaksOff: true)
    }

    private func changes(_ request: HTTPRequest, breaksOff: Bool) async throws -> HTTPResponse {
        let last = await shelf.lastChange
        guard let after = request.query["after"].map({ Int($0) }) ?? last else {
            return .problem(.badRequest, "?after= is the number of a change")
        }
        // More than there is: the client knows another server's.
        let start = min(after, last)
        let lines = ChangeLines(after: start, shelf: shelf, breaksOff: breaksOff)
        return HTTPResponse(
            statusCode: .ok,
            headers: [.contentType: "application/x-ndjson", HTTPHeader(ChangesEndpoint.position): "\(start)"],
            body: HTTPBodySequence(from: lines)
        )
    }
}

/// The lines, made when the connection has room for them.
private struct ChangeLines: AsyncBufferedSequence {
    typealias Element = UInt8

    let after: Int
    let shelf: Shelf
    let breaksOff: Bool

    func makeAsyncIterator() -> Iterator { Iterator(last: after, shelf: shelf, breaksOff: breaksOff) }

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

        mutating func next() async throws -> UInt8? {
            preconditionFailure("The server sends pieces, not bytes.")
        }
    }
}
