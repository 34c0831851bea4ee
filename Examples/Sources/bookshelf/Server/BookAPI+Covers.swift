import FlyingFox
import Foundation

extension BookAPI {
    /// Writes a cover to a file as the cover arrives: it is not kept in memory, and the file is removed if the cover does not arrive completely.
    @Sendable func takeCover(_ request: HTTPRequest) async throws -> HTTPResponse {
        let expected = request.headers[.contentLength].flatMap { Int($0) }
        guard let id = request.routeParameters["id", of: Int.self], await shelf.hasBook(id) else {
            try await receive(request) { _ in }
            return .problem(.notFound, "there is no such book")
        }
        let file = shelf.placeToArrive()
        defer { try? FileManager.default.removeItem(at: file) }
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        var checksum = Checksum()
        let size = try await receive(request) { piece in
            checksum.update(piece)
            try handle.write(contentsOf: piece)
        }
        if size > ServerSettings.largestCover {
            return .problem(.payloadTooLarge, "a cover has at most \(ServerSettings.largestCover) bytes")
        }
        if let expected, expected != size { throw Abandoned(received: size) }
        let book = try await shelf.take(Cover(size: size, checksum: checksum), at: file, for: id)
        return try .json(book)
    }

    @Sendable func giveCover(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let id = request.routeParameters["id", of: Int.self], let (_, file) = await shelf.cover(of: id) else {
            return .problem(.notFound, "there is no cover of it")
        }
        return HTTPResponse(
            statusCode: .ok,
            headers: [.contentType: "application/octet-stream"],
            body: try HTTPBodySequence(file: file)
        )
    }

    /// Receives the body of a request.
    ///
    /// - Parameter take: Receives each piece. Not called for bytes beyond the size of the largest cover.
    /// - Returns: The number of bytes.
    /// - Throws: ``Abandoned``, if the client left.
    @discardableResult
    private func receive(_ request: HTTPRequest, _ take: (Data) throws -> Void) async throws -> Int {
        var received = 0
        var paced = 0
        var pieces = request.bodySequence.makeAsyncIterator()
        while true {
            let piece: Data?
            do { piece = try await pieces.next() } catch { throw Abandoned(received: received) }
            guard let piece else { return received }
            received += piece.count
            if received <= ServerSettings.largestCover { try take(piece) }
            if received - paced >= 256 << 10 {
                paced = received
                try await settings.pace(.piece(received: received))
            }
        }
    }
}
