/// An endpoint that takes a response for a failure if its status says so.
///
/// ```swift
/// struct BookListEndpoint: Endpoint, URLRequestBuildable, StatusValidating { … }
/// ```
///
/// Without it every response goes to `content(from:with:)`: also a 404, and what its body happens to say.
public protocol StatusValidating {
    /// Which statuses are those of a success: by default 200 to 299.
    var acceptedStatuses: Range<Int> { get }
}

extension StatusValidating {
    /// 200 to 299.
    public var acceptedStatuses: Range<Int> { 200..<300 }
}

extension Endpoint where Self: StatusValidating {
    /// Throws ``HTTPError`` with the reason ``HTTPError/Reason/status`` for any other status than ``StatusValidating/acceptedStatuses``.
    public func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws {
        try HTTPError.validateStatus(of: response, to: request, data: data, accepted: acceptedStatuses)
    }
}

extension UploadEndpoint where Self: StatusValidating {
    /// Throws ``HTTPError`` with the reason ``HTTPError/Reason/status`` for any other status than ``StatusValidating/acceptedStatuses``.
    public func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws {
        try HTTPError.validateStatus(of: response, to: request, data: data, accepted: acceptedStatuses)
    }
}
