/// A response whose head is there, and whose body arrives.
public struct HTTPTransportResponse {
    /// The status and the headers.
    public let head: HTTPURLResponse

    /// What arrives.
    public let body: HTTPResponseBody

    /// A response as a transport hands it over.
    ///
    /// - Parameters:
    ///   - head: The status and the headers.
    ///   - body: What arrives.
    public init(head: HTTPURLResponse, body: HTTPResponseBody) {
        self.head = head
        self.body = body
    }
}
