import FlyingFox
import FlyingSocks
import Foundation
import TaskControl

/// The books' HTTP server, on the loopback interface, with all of its state in memory and the covers in a folder of its own.
final class BookServer: Sendable {
    let address: URL
    let shelf: Shelf
    let tokens: Tokens
    /// The owner of the task that listens.
    private let lifetime: AsyncLifetime

    private init(address: URL, api: BookAPI, lifetime: AsyncLifetime) {
        self.address = address
        self.lifetime = lifetime
        shelf = api.shelf
        tokens = api.tokens
    }

    /// Waits until the server no longer listens. A cancelled caller stops waiting, and the server continues.
    func waitUntilStopped() async throws {
        try await lifetime.drain()
    }

    /// Runs a server for as long as `body` runs.
    ///
    /// - Throws: The error of `body`; ``PortInUse``.
    static func whileRunning<Result: Sendable>(
        _ settings: ServerSettings = ServerSettings(),
        _ body: @Sendable (BookServer) async throws -> Result
    ) async throws -> Result {
        // A client that goes while it is written to is no reason to end.
        signal(SIGPIPE, SIG_IGN)
        let folder = FileManager.default.temporaryDirectory.appending(path: "bookshelf-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }

        let api = BookAPI(settings: settings, shelf: Shelf(books: settings.books, folder: folder))
        let server = HTTPServer(config: try configuration(settings))
        for (route, handler) in api.routes { await server.appendRoute(HTTPRoute(route), handler: handler) }
        let lifetime = AsyncLifetime(name: "server")
        // Not a child task: if the caller is cancelled, requests that are being answered have a second to end.
        let running = lifetime.addTask(name: "listener") {
            // An error means that the port is in use, which is reported below, or that the server was stopped.
            try? await server.run()
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.waitUntilListening(timeout: 120) }
            group.addTask {
                try await lifetime.drain()
                throw PortInUse(port: settings.port)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        guard case .ip4(let host, let port) = await server.listeningAddress else {
            throw PortInUse(port: settings.port)
        }
        let address = URL(string: "http://\(host):\(port)")!
        api.open()
        let result = await Swift.Result.of {
            try await body(BookServer(address: address, api: api, lifetime: lifetime))
        }
        await api.close()
        await server.stop(timeout: 1)
        await running.value
        return try result.get()
    }

    private static func configuration(_ settings: ServerSettings) throws -> HTTPServer.Configuration {
        HTTPServer.Configuration(
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: settings.port),
            // A cover may take its time, and so may a slow server.
            timeout: 3_600,
            sharedRequestBufferSize: 64 << 10,
            // Bodies come by once, and are not kept.
            sharedRequestReplaySize: 0,
            logger: .disabled
        )
    }
}

/// The server can't listen.
struct PortInUse: Error, CustomStringConvertible {
    let port: UInt16

    var description: String {
        "port \(port) can't be had: another program listens there, or it takes more rights. Choose another with --port, or any with --port 0"
    }
}

extension Result where Failure == any Error {
    /// Returns the result or error of a function as a value.
    static func of(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    var failure: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}
