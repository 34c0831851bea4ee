/// A ``URLRequestAdapter`` that joins the URL of each endpoint to the URL of the server, which is called the base.
///
/// | base | endpoint | result |
/// |---|---|---|
/// | `https://h/api/v1` | `books` | `https://h/api/v1/books` |
/// | `https://h/api/v1/` | `/books` | `https://h/api/v1/books` |
/// | `https://h/api/v1?key=1` | `books?page=2` | `https://h/api/v1/books?key=1&page=2` |
/// | `https://h/api/v1` | `books:search` | `https://h/api/v1/books:search` |
/// | `https://h/api/v1` | `../admin` | throws |
/// | `https://h/api/v1` | `..%2fadmin`, `..%5cadmin`, `..;/admin` | throws: some servers read these as `../admin` |
/// | `https://h/api/v1` | `https://elsewhere/books` | throws; unchanged if ``allowsOtherServers`` is `true` |
/// | `https://h/api/v1` | `https://h/api/v1/books?page=2` | `https://h/api/v1/books?page=2` |
///
/// An absolute URL, such as a link that the server has sent, is not changed, except that a URL below the base that has
/// no user receives the user and the password of the base. If ``allowsOtherServers`` is `false`, an absolute URL must be
/// below the base: every request then goes to the server of the base and to a path below the path of the base, so
/// credentials for this server are not sent elsewhere.
///
/// Of a relative path, the first segment may contain a colon, as in `books:search`.
public struct BaseURLAdapter: URLRequestAdapter {
    /// The URL of the server.
    public let baseURL: URL

    /// Whether an endpoint may have an absolute URL that is not below ``baseURL``, because its server or its path is
    /// another one. If `true`, the client sends such a request, with its credentials, to that URL. If `false`, a call
    /// with such a URL fails with ``EndpointError/Reason/request``.
    public let allowsOtherServers: Bool

    private let base: JoinedURL.Base?

    /// Creates an adapter for the requests to one server.
    ///
    /// - Parameters:
    ///   - baseURL: The URL of the server, with a scheme and a host. Without them, each call of the client fails with
    ///     ``EndpointError/Reason/request``.
    ///   - allowsOtherServers: Whether an endpoint may have an absolute URL that is not below `baseURL`. If `true`, the
    ///     client sends the request to that URL, with its credentials. If `false`, the call fails.
    public init(baseURL: URL, allowsOtherServers: Bool = false) {
        self.baseURL = baseURL
        self.allowsOtherServers = allowsOtherServers
        base = JoinedURL.Base(baseURL)
    }

    /// Creates an adapter for the requests to one server.
    ///
    /// - Parameters:
    ///   - baseURL: The URL of the server, with a scheme and a host, such as `"https://books.example/v1"`. Without
    ///     them, or with a text that is not a URL, each call of the client fails with ``EndpointError/Reason/request``.
    ///   - allowsOtherServers: Whether an endpoint may have an absolute URL that is not below `baseURL`. If `true`, the
    ///     client sends the request to that URL, with its credentials. If `false`, the call fails.
    public init(baseURL: RequestURL, allowsOtherServers: Bool = false) {
        self.init(
            baseURL: baseURL.url ?? URL(string: baseURL.description.percentEncoded) ?? URL(fileURLWithPath: "/"),
            allowsOtherServers: allowsOtherServers
        )
    }

    /// Joins the request's URL to ``baseURL`` if it is relative.
    ///
    /// - Returns: The request with the joined URL.
    /// - Throws: ``EndpointError`` with the reason ``EndpointError/Reason/request`` if ``baseURL`` has no scheme or no host, if
    ///   the URL of the request is not valid, if a relative URL leads out of ``baseURL`` or is read so by some servers,
    ///   or if an absolute URL is not below ``baseURL`` and ``allowsOtherServers`` is `false`.
    public func adapt(_ request: URLRequest) throws -> URLRequest {
        guard let base else {
            throw EndpointError(
                .request,
                detail:
                    "the base URL \"\(Redaction.text(of: baseURL))\" has no scheme and host: give the client one like "
                    + "https://example.com/api"
            )
        }
        guard let url = request.url else {
            throw EndpointError(
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
