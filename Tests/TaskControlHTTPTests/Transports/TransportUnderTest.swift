import Foundation
import TaskControlHTTP
import Testing

/// The transports that one suite is run over.
enum TransportUnderTest: String, CaseIterable, Codable, CustomTestStringConvertible {
    case urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif

    var testDescription: String { rawValue }

    /// A new one, without anything in common with others.
    func make() -> any HTTPTransport {
        switch self {
        case .urlSession: URLSessionTransport(configuration: .ephemeral)
        #if AsyncHTTPClient
        case .asyncHTTPClient: AsyncHTTPClientTransport()
        #endif
        }
    }
}

extension HTTPTransport {
    /// The head and the whole body.
    func fetch(_ request: HTTPTransportRequest) async throws -> (head: HTTPURLResponse, body: Data) {
        try await withResponse(to: request) { response in
            var body = Data()
            for try await part in response.body { body.append(part) }
            return (response.head, body)
        }
    }

    func fetch(_ url: URL, _ method: String = "GET") async throws -> (head: HTTPURLResponse, body: Data) {
        var request = URLRequest(url: url)
        request.httpMethod = method
        return try await fetch(HTTPTransportRequest(request))
    }
}

/// What is thrown.
func thrown<Value>(_ body: () async throws -> Value) async -> (any Error)? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}
