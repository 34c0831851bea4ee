import FlyingFox
import Foundation

/// A real HTTP server. Each act has a ``Stage`` of its own on it, and a path that leads there: `GET /3/search?q=swift` asks stage 3 about "swift".
final class TourServer: Sendable {
    private let stages: Observed<[Stage]>
    let address: URL

    private init(stages: Observed<[Stage]>, address: URL) { (self.stages, self.address) = (stages, address) }

    /// Runs a server for as long as `body` runs.
    static func whileRunning<Result: Sendable>(
        _ body: @MainActor @Sendable (TourServer) async throws -> Result
    ) async throws -> Result {
        let stages = Observed<[Stage]>([])
        let pool = HTTPServer.defaultPool()
        let handler: LocalServer.Handler = { request in
            let path = request.path.split(separator: "/")
            guard let number = path.first.flatMap({ Int($0) }), stages.value.indices.contains(number),
                let subject = request.query["q"]
            else { return HTTPResponse(statusCode: .notFound) }
            return try await stages.value[number].handle(request, subject: subject, pool: pool)
        }
        return try await LocalServer.whileRunning(pool: pool, routes: [("GET /*", handler)]) { address in
            try await body(TourServer(stages: stages, address: address))
        }
    }

    /// Creates a stage.
    func makeStage(rule: @escaping Rule = { _, _ in .answer }) -> (stage: Stage, address: URL) {
        let stage = Stage(rule: rule)
        let number = stages.update { stages in
            stages.append(stage)
            return stages.count - 1
        }
        return (stage, address.appending(path: "\(number)"))
    }
}
