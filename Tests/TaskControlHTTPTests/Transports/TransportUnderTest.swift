import Foundation
import TaskControlHTTP
import Testing

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
#endif

/// The transports that one suite is run over.
enum TransportUnderTest: String, CaseIterable, Codable, CustomTestStringConvertible {
    case urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif

    var testDescription: String { rawValue }

    /// A new one, without anything in common with others. A call takes long here because other tests have the threads, not because a server is
    /// silent.
    func make() -> any HTTPTransport {
        switch self {
        case .urlSession:
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 3_600
            return URLSessionTransport(configuration: configuration)
        #if AsyncHTTPClient
        case .asyncHTTPClient:
            var configuration = HTTPClient.Configuration.taskControl
            configuration.timeout = HTTPClient.Configuration.Timeout(connect: .hours(1), read: .hours(1))
            return AsyncHTTPClientTransport(configuration: configuration)
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

/// Returns the error that a function throws.
func thrown<Value>(_ body: () async throws -> Value) async -> (any Error)? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}
