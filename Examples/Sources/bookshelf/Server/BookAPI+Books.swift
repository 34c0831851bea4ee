import FlyingFox
import Foundation

extension BookAPI {
    @Sendable func login(_ request: HTTPRequest) async throws -> HTTPResponse {
        let account = try JSONDecoder().decode(Account.self, from: await request.bodyData)
        guard account == settings.account else { return .problem(.forbidden, "user or password is wrong") }
        return try .json(Login(token: await tokens.issue()))
    }

    @Sendable func list(_ request: HTTPRequest) async throws -> HTTPResponse {
        let number = request.query["page"].map { Int($0) } ?? 1
        guard let number, let page = await shelf.page(number) else {
            return .problem(.notFound, "there is no such page")
        }
        return try .json(page)
    }

    @Sendable func search(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let text = request.query["q"], !text.isEmpty else { return .problem(.badRequest, "?q= is missing") }
        return try .json(await shelf.search(text))
    }

    @Sendable func add(_ request: HTTPRequest) async throws -> HTTPResponse {
        let book = try JSONDecoder().decode(NewBook.self, from: await request.bodyData)
        let key = request.headers[HTTPHeader("Idempotency-Key")]
        guard let added = await shelf.add(book, key: key) else {
            return .problem(.unprocessableContent, "the idempotency key is that of another book")
        }
        return try .json(added, status: .created)
    }
}
