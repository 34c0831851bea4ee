public final class URLSessionTransport: HTTPTransport {
    public init(configuration: URLSessionConfiguration = .default, delegate: (any URLSessionDelegate)? = nil) {}
    public func withResponse<Value>(
        to request: HTTPTransportRequest,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        throw URLError(.unsupportedURL)
    }
}
