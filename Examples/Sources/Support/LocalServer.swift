package import FlyingFox
package import FlyingSocks
package import Foundation
import TaskControl

/// An HTTP server on the loopback interface, for as long as a function runs.
package enum LocalServer {
    package typealias Handler = @Sendable (HTTPRequest) async throws -> HTTPResponse

    /// Runs a server. Port 0 is any free port.
    ///
    /// - Throws: ``PortInUse``; the error of `body`.
    package static func whileRunning<Result: Sendable>(
        port: UInt16 = 0,
        pool: some AsyncSocketPool = HTTPServer.defaultPool(),
        routes: [(String, Handler)],
        _ body: @Sendable (_ address: URL) async throws -> Result
    ) async throws -> Result {
        // A client that goes while it is written to is no reason to end.
        signal(SIGPIPE, SIG_IGN)
        let server = HTTPServer(
            config: HTTPServer.Configuration(
                address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port),
                // Answers are held for as long as an example wants.
                timeout: 3_600,
                sharedRequestBufferSize: 64 << 10,
                // Bodies come by once, and are not kept.
                sharedRequestReplaySize: 0,
                pool: pool,
                logger: .disabled
            )
        )
        for (route, handler) in routes { await server.appendRoute(HTTPRoute(route), handler: handler) }
        let lifetime = AsyncLifetime(name: "server")
        // Not a child task: if the caller is cancelled, requests that are being answered have a second to end.
        let running = lifetime.addTask(name: "listener") { try? await server.run() }
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.waitUntilListening(timeout: 120) }
            group.addTask {
                try await lifetime.drain()
                throw PortInUse(port: port)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        guard case .ip4(let host, let used) = await server.listeningAddress else { throw PortInUse(port: port) }
        let result = await Swift.Result.of { try await body(URL(string: "http://\(host):\(used)")!) }
        await server.stop(timeout: 1)
        await running.value
        return try result.get()
    }
}

/// The server cannot listen.
package struct PortInUse: Error, CustomStringConvertible {
    package let port: UInt16

    package var description: String {
        "port \(port) can't be had: another program listens there, or it takes more rights. Choose another with --port, or any with --port 0"
    }
}

/// The bytes of an answer in one piece, or half of them and then an error, with which the server closes the connection.
///
/// The server asks for a second piece when it has written the first: then the answer is complete. It releases the bytes also when it could not write
/// them: a last reference that is released before that means that the client did not take all of it.
package struct AnswerBytes: AsyncBufferedSequence {
    package typealias Element = UInt8

    private let bytes: Data
    private let breaksOff: Bool
    private let delivery: Delivery

    /// Creates the bytes. `ended` is called once.
    package init(_ bytes: Data, breaksOff: Bool, ended: @escaping @Sendable (_ isComplete: Bool) -> Void = { _ in }) {
        (self.bytes, self.breaksOff, delivery) = (bytes, breaksOff, Delivery(ended: ended))
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(rest: breaksOff ? bytes.prefix(bytes.count / 2) : bytes, breaksOff: breaksOff, delivery: delivery)
    }

    package struct Iterator: AsyncBufferedIteratorProtocol {
        fileprivate var rest: Data?
        fileprivate let breaksOff: Bool
        fileprivate let delivery: Delivery

        package mutating func nextBuffer(suggested count: Int) async throws -> Data? {
            if let rest = rest.take() { return rest }
            if breaksOff { throw SocketError.disconnected }
            delivery.complete()
            return nil
        }

        package mutating func next() async throws -> UInt8? {
            preconditionFailure("The server sends pieces, not bytes.")
        }
    }

    fileprivate final class Delivery: Sendable {
        private let isComplete = Observed(false)
        private let ended: @Sendable (Bool) -> Void

        init(ended: @escaping @Sendable (Bool) -> Void) { self.ended = ended }

        deinit { if !isComplete.value { ended(false) } }

        func complete() {
            let wasComplete = isComplete.update { isComplete in
                defer { isComplete = true }
                return isComplete
            }
            if !wasComplete { ended(true) }
        }
    }
}
