#if canImport(FoundationNetworking)
internal import Foundation
#else
public import Foundation
#endif

/// A response whose head has arrived, and whose body is still arriving.
public struct HTTPTransportResponse {
    /// The status and the headers.
    public let head: HTTPURLResponse

    /// The body, as it arrives.
    public let body: HTTPResponseBody

    /// Creates the response of a transport.
    ///
    /// - Parameters:
    ///   - head: The status and the headers.
    ///   - body: The body, as it arrives.
    public init(head: HTTPURLResponse, body: HTTPResponseBody) {
        self.head = head
        self.body = body
    }
}
