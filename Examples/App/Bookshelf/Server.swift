import Foundation
import TaskControlHTTP

// The project isolates declarations to the main actor by default. A client encodes and decodes on no actor, so these types are `nonisolated`.

/// A book, as the server knows it.
nonisolated struct Book: Decodable, Hashable, Identifiable {
    let id: Int
    let title: String
    let author: String
}

nonisolated struct Account: Encodable {
    var user: String
    var password: String
}

private nonisolated struct Page: Decodable {
    let books: [Book]
}

private nonisolated struct Login: Decodable {
    let token: String
}

private struct LoginEndpoint: Endpoint {
    typealias Content = Login
    let account: Account

    func makeRequest() throws -> URLRequest { post("login", body: try .json(encoding: account)) }
}

private struct PageEndpoint: Endpoint {
    typealias Content = Page

    func makeRequest() throws -> URLRequest { get("books", queryItems: [URLQueryItem(name: "page", value: "1")]) }
}

private struct SearchEndpoint: Endpoint {
    typealias Content = [Book]
    let text: String

    func makeRequest() throws -> URLRequest { get("books/search", queryItems: [URLQueryItem(name: "q", value: text)]) }
}

private struct CoverEndpoint: UploadEndpoint {
    typealias Content = Book
    let book: Book.ID
    let file: URL

    func makeRequest() throws -> (URLRequest, UploadEndpointBody) { (put("books/\(book)/cover"), .file(file)) }
}

/// The requests of the app, to the server that `swift run --package-path Examples bookshelf serve` starts.
struct Server {
    static let address = URL(string: "http://127.0.0.1:8080")!

    private let client: EndpointClient

    /// Creates the requests of an account. The client logs in when a request needs a token: once, however many requests wait for it.
    init(account: Account) {
        let login = EndpointClient(name: "login", baseURL: Self.address)
        var policies = ClientPolicies()
        policies.authenticator = .bearer { try await login.request(LoginEndpoint(account: account)).token }
        client = EndpointClient(name: "bookshelf", baseURL: Self.address, policies: policies)
    }

    func books() async throws -> [Book] { try await client.request(PageEndpoint()).books }

    func search(_ text: String) async throws -> [Book] { try await client.request(SearchEndpoint(text: text)) }

    func upload(_ file: URL, of book: Book.ID, onProgress: @escaping @Sendable (Double) -> Void) async throws {
        let size = Double((try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 1)
        _ = try await client.upload(CoverEndpoint(book: book, file: file)) { onProgress(Double($0.sent) / size) }
    }
}
