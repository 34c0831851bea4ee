import Foundation
import TaskControlHTTP
import TaskControlTesting
import Testing

/// Thousands of requests that are cancelled at any moment, among them such that the server breaks off: over both transports.
@Suite(.timeLimit(.minutes(15)), .serialized)
struct StormTests {
    private static let paths = [
        "ok", "ok", "large", "silent", "half", "redirect", "drop", "upload", "upload", "reject",
    ]

    private func server() throws -> RawServer {
        let large = [UInt8](repeating: 7, count: 300_000)
        return try RawServer { connection, request in
            switch request.target {
            case "/large": try connection.respond(body: large)
            case "/silent": connection.waitUntilClosed()
            case "/half":
                try connection.sendHalf()
                connection.waitUntilClosed()
            case "/redirect": try connection.respond(307, [("Location", "/ok")], body: [1, 2, 3])
            case "/drop": connection.close()
            case "/reject":
                try connection.readBody(of: request)
                try connection.respond(401, [("WWW-Authenticate", "Basic realm=\"x\"")], body: [1])
            default:
                try connection.readBody(of: request)
                try connection.respond(body: [1, 2, 3])
            }
        }
    }

    private func request(_ path: String, at server: RawServer) -> HTTPTransportRequest {
        var request = URLRequest(url: server.url(path))
        guard path == "upload" || path == "redirect" else { return HTTPTransportRequest(request) }
        request.httpMethod = "PUT"
        return HTTPTransportRequest(request, body: .stream(length: nil) { PatternStream(300_000) }) { _, _ in }
    }

    @Test(arguments: TransportUnderTest.allCases, 0..<4 as Range<UInt64>)
    func nothingTrapsHangsOrIsLeftOpen(_ kind: TransportUnderTest, _ seed: UInt64) async throws {
        let (server, count) = (try server(), 500)
        var random = SeededGenerator(seed: seed)
        let outcomes = OrderRecorder<Bool>()
        do {
            let transport = kind.make()
            var live: [Task<Void, Never>] = []
            for _ in 0..<count {
                let path = Self.paths.randomElement(using: &random)!
                let (request, leavesEarly) = (request(path, at: server), Bool.random(using: &random))
                live.append(
                    Task {
                        let error = await thrown {
                            try await transport.withResponse(to: request) { response in
                                if !leavesEarly { for try await _ in response.body {} }
                            }
                        }
                        outcomes.record(error == nil)
                    }
                )
                // The moment of a cancellation is how far the others have come by now.
                for _ in 0..<Int.random(in: 0..<3_000, using: &random) {}
                while live.count > Int.random(in: 0..<40, using: &random) {
                    live.remove(at: Int.random(in: live.indices, using: &random)).cancel()
                }
            }
            for task in live { task.cancel() }
            try await outcomes.waitForEvents(count: count)
            // The server still works afterwards.
            #expect(try await transport.fetch(server.url("ok")).body.count == 3)
        }
        try await server.log.wait { $0.live == 0 }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func transportsGoWhileTheirExchangesAreCancelled(_ kind: TransportUnderTest) async throws {
        let server = try server()
        var random = SeededGenerator(seed: 1)
        for _ in 0..<100 {
            let transport = kind.make()
            let tasks = (0..<4).map { _ in
                let request = request(Self.paths.randomElement(using: &random)!, at: server)
                return Task { try? await transport.fetch(request) }
            }
            for _ in 0..<Int.random(in: 0..<30_000, using: &random) {}
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.value }
        }
        try await server.log.wait { $0.live == 0 }
    }
}
