import FlyingFox
import FlyingSocks
import Foundation

/// A real HTTP server on a free port of the loopback interface. Each act has a ``Stage`` of its own on it, and a path that leads there.
///
/// `GET /3/search?q=swift` asks stage 3 about the subject "swift".
final class TourServer: Sendable {
    private let server: HTTPServer
    private let stages: Observed<[Stage]>

    /// The address that the system chose.
    let address: String

    private init(server: HTTPServer, stages: Observed<[Stage]>, address: String) {
        self.server = server
        self.stages = stages
        self.address = address
    }

    /// Runs a server for as long as `body` runs.
    static func whileRunning<Result: Sendable>(
        _ body: @MainActor @Sendable (TourServer) async throws -> Result
    ) async throws -> Result {
        let stages = Observed<[Stage]>([])
        let pool = HTTPServer.defaultPool()
        // Answers are held for as long as an act wants: the server's own limit is out of the way.
        let server = HTTPServer(
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: 0),
            timeout: 120,
            pool: pool,
            logger: .disabled
        )
        await server.appendRoute("GET /*") { request in
            let path = request.path.split(separator: "/")
            guard let number = path.first.flatMap({ Int($0) }), stages.value.indices.contains(number),
                let subject = request.query["q"]
            else { return HTTPResponse(statusCode: .notFound) }
            return try await stages.value[number].handle(request, subject: subject, pool: pool)
        }
        async let running: Void = server.run()
        try await server.waitUntilListening(timeout: 120)
        guard case .ip4(let host, let port) = await server.listeningAddress else { throw NoAddress() }
        let result = try await body(TourServer(server: server, stages: stages, address: "http://\(host):\(port)"))
        await server.stop()
        try? await running
        return result
    }

    /// Creates a stage.
    ///
    /// - Returns: The stage, and its address.
    func makeStage(rule: @escaping Rule) -> (stage: Stage, address: URL) {
        let stage = Stage(rule: rule)
        let number = stages.update { stages in
            stages.append(stage)
            return stages.count - 1
        }
        return (stage, URL(string: "\(address)/\(number)")!)
    }
}

/// The server listens, but not at the given address.
struct NoAddress: Error, CustomStringConvertible {
    var description: String { "the server has no address on the loopback interface" }
}
