import FlyingFox
import FlyingSocks
import Foundation

/// A proper server, for what needs no misbehavior: FlyingFox with routes.
///
/// ```swift
/// try await RouteServer.run { server in
///     await server.route("GET /books") { _ in HTTPResponse(statusCode: .ok, body: Data("[]".utf8)) }
///     let url = server.url("books")
///     …
/// }
/// ```
struct RouteServer {
    private let server: HTTPServer
    private let port: UInt16

    /// Runs a server at a port of its own on 127.0.0.1, and ends it with the closure. Not on `::1`, FlyingFox's own choice: to Foundation
    /// on Linux, a URL with an IPv6 address is a bad one.
    static func run<Value>(_ body: (RouteServer) async throws -> Value) async throws -> Value {
        let server = HTTPServer(
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: 0),
            timeout: 3_600,
            logger: .disabled
        )
        let running = Task { try await server.run() }
        defer { running.cancel() }
        try await server.waitUntilListening(timeout: 600)
        guard case .ip4(_, let port) = await server.listeningAddress else { throw POSIXError(.EADDRNOTAVAIL) }
        let value = try await body(RouteServer(server: server, port: port))
        await server.stop()
        return value
    }

    /// - Parameter route: The route in the notation of FlyingFox: `"GET /books/:id"`.
    func route(_ route: String, _ handler: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) async {
        await server.appendRoute(HTTPRoute(route), handler: handler)
    }

    func url(_ path: String = "") -> URL { URL(string: "http://127.0.0.1:\(port)/\(path)")! }
}
