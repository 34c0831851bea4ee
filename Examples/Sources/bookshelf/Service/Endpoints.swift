import Foundation
import TaskControlHTTP

struct LoginEndpoint: Endpoint {
    typealias Content = Login

    let account: Account

    func makeRequest() throws -> URLRequest { post("login", body: try .json(encoding: account)) }
}

struct PageEndpoint: Endpoint {
    typealias Content = BookPage

    let page: Int

    func makeRequest() throws -> URLRequest {
        get("books", queryItems: [URLQueryItem(name: "page", value: "\(page)")])
    }
}

struct SearchEndpoint: Endpoint {
    typealias Content = [Book]

    let text: String

    func makeRequest() throws -> URLRequest {
        get("books/search", queryItems: [URLQueryItem(name: "q", value: text)])
    }
}

struct AddEndpoint: Endpoint {
    typealias Content = Book

    let book: NewBook

    /// Creates the request, once per call: all attempts have the same key, so that the server recognizes them as one request.
    func makeRequest() throws -> URLRequest {
        try post("books", headers: ["Idempotency-Key": UUID().uuidString], body: .json(encoding: book))
    }
}

struct ChangesEndpoint: Endpoint {
    typealias Content = Void

    /// The header of the response with the number of the change that it begins after.
    static let position = "Changes-After"

    /// The number of the change after which the response begins; `nil` for the changes from now on.
    let after: Int?

    func makeRequest() throws -> URLRequest {
        get("changes", queryItems: after.map { [URLQueryItem(name: "after", value: "\($0)")] } ?? [])
    }
}

struct CoverUploadEndpoint: UploadEndpoint {
    typealias Content = Book

    let book: Book.ID
    let file: URL

    func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
        (put("books/\(book)/cover"), .file(file))
    }
}
