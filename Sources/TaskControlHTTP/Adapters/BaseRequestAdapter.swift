/// Puts the server's URL before the endpoints' URLs.
///
/// | base | endpoint | |
/// |---|---|---|
/// | `https://h/api/v1` | `books` | `https://h/api/v1/books` |
/// | `https://h/api/v1/` | `/books` | `https://h/api/v1/books` |
/// | `https://h/api/v1?key=1` | `books?page=2` | `https://h/api/v1/books?key=1&page=2` |
/// | `https://h/api/v1` | `../admin` | throws |
/// | `https://h/api/v1` | `..%2fadmin`, `..%5cadmin`, `..;/admin` | throws: some servers read these as `../admin` |
/// | `https://h/api/v1` | `https://elsewhere/books` | throws, unless it was asked for |
/// | `https://h/api/v1` | `https://h/api/v1/books?page=2` | as it is: such links come from the server |
///
/// The base's path is never dropped, and never left: credentials that are meant for this server go nowhere else.
public struct BaseRequestAdapter: RequestAdapter {
    /// The URL of the server.
    public let baseURL: URL

    /// Whether an endpoint's URL may lead elsewhere.
    public let allowsOtherServers: Bool

    private let base: JoinedURL.Base?

    /// Creates an adapter for the requests to one server.
    ///
    /// - Parameters:
    ///   - baseURL: Where the server is: with a scheme and a host. Without them each request fails, and says so.
    ///   - allowsOtherServers: Whether an endpoint may have an absolute URL that leads out of `baseURL`. The client's credentials go there
    ///     too.
    public init(baseURL: URL, allowsOtherServers: Bool = false) {
        self.baseURL = baseURL
        self.allowsOtherServers = allowsOtherServers
        base = JoinedURL.Base(baseURL)
    }

    /// Creates an adapter for the requests to one server.
    ///
    /// - Parameters:
    ///   - baseURL: Where the server is: with a scheme and a host, such as `"https://books.example/v1"`. Without them,
    ///     or with a text that is no URL, each request fails with ``HTTPError/Reason/request``.
    ///   - allowsOtherServers: Whether an endpoint may have an absolute URL that leads out of `baseURL`.
    public init(baseURL: RequestURL, allowsOtherServers: Bool = false) {
        self.init(
            baseURL: baseURL.url ?? URL(string: baseURL.description.percentEncoded) ?? URL(fileURLWithPath: "/"),
            allowsOtherServers: allowsOtherServers
        )
    }

    /// Puts ``baseURL`` before the request's URL.
    ///
    /// - Throws: ``HTTPError`` with the reason ``HTTPError/Reason/request``, if the URL leads out of ``baseURL`` or is of no use.
    public func adapt(_ request: URLRequest) throws -> URLRequest {
        guard let base else {
            throw HTTPError(
                .request,
                detail:
                    "the base URL \"\(Redaction.text(of: baseURL))\" has no scheme and host: give the client one like "
                    + "https://example.com/api"
            )
        }
        guard let url = request.url else {
            throw HTTPError(
                .request,
                detail:
                    "the endpoint's request has no URL: the text of its URL is not valid, or an interpolated value is \".\", \"..\", or empty"
            )
        }
        var request = request
        request.url = try JoinedURL.join(url, to: base, allowsOtherServers: allowsOtherServers)
        return request
    }
}
