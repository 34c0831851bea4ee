import TaskControlHTTP

/// What a shelf can be asked.
protocol BookEndpoint: Endpoint, URLRequestBuildable {}

extension BookEndpoint {
    func url(_ path: String) -> URL { URL(string: path)! }
}

struct LoginEndpoint: BookEndpoint {
    typealias Content = Login

    let account: Account

    func makeRequest() throws -> URLRequest { post(url("login"), body: try .json(encoding: account)) }
}

struct PageEndpoint: BookEndpoint {
    typealias Content = BookPage

    let page: Int

    func makeRequest() throws -> URLRequest {
        get(url("books"), queryItems: [URLQueryItem(name: "page", value: "\(page)")])
    }
}

struct SearchEndpoint: BookEndpoint {
    typealias Content = [Book]

    let text: String

    func makeRequest() throws -> URLRequest {
        get(url("books/search"), queryItems: [URLQueryItem(name: "q", value: text)])
    }
}

struct AddEndpoint: BookEndpoint {
    typealias Content = Book

    let book: NewBook

    /// Made once a call: all attempts have one key, by which the server knows them for one.
    func makeRequest() throws -> URLRequest {
        var request = post(url("books"), body: try .json(encoding: book))
        request.setValue(UUID().uuidString, forHTTPHeaderField: "Idempotency-Key")
        return request
    }
}

struct ChangesEndpoint: BookEndpoint {
    typealias Content = Void

    /// `nil`: what happens from now on.
    let after: Int?

    func makeRequest() throws -> URLRequest {
        get(url("changes"), queryItems: after.map { [URLQueryItem(name: "after", value: "\($0)")] })
    }
}

struct CoverUploadEndpoint: UploadEndpoint, URLRequestBuildable {
    typealias Content = Book

    let book: Book.ID
    let file: URL

    func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
        (put(URL(string: "books/\(book)/cover")!), .file(file))
    }
}
