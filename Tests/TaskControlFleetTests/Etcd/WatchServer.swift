import Foundation
import TaskControl
import TaskControlEtcd
import TaskControlFleet
import TaskControlHTTP

/// A transport to a server whose watches a test answers message by message, and whose other requests a closure answers.
final class WatchServer: HTTPTransport {
    /// A watch that the store has begun.
    struct Connection: Sendable {
        let host: String
        /// The revision from which it asks for changes.
        let start: Int64
        let token: String?
        fileprivate let messages: AsyncStream<Data>.Continuation

        func send(_ message: String) { messages.yield(Data((message + "\n").utf8)) }

        func create() { send(#"{"result": {"header": {"revision": "1"}, "created": true}}"#) }

        /// Sends that a key was put at a revision.
        func put(_ key: String, _ revision: Int64) {
            let key = Data("taskcontrol/\(key)".utf8).base64EncodedString()
            let entry = #"{"key": "\#(key)", "create_revision": "\#(revision)", "mod_revision": "\#(revision)"}"#
            send(#"{"result": {"header": {"revision": "\#(revision)"}, "events": [{"kv": \#(entry)}]}}"#)
        }

        /// Ends the response.
        func end() { messages.finish() }
    }

    private struct Message: Decodable {
        struct Create: Decodable { let start_revision: String }
        let create_request: Create
    }

    private let arrivals: AsyncStream<Connection>
    private let arrive: AsyncStream<Connection>.Continuation
    private let count = Locked(0)
    private let openCount = Locked(0)
    private let answer: @Sendable (URLRequest) async throws -> (Int, Data)

    init(_ answer: @escaping @Sendable (URLRequest) async throws -> (Int, Data) = { _ in throw URLError(.badURL) }) {
        (arrivals, arrive) = AsyncStream.makeStream()
        self.answer = answer
    }

    /// The number of watches that were begun.
    var connectionCount: Int { count.withLock(\.self) }

    /// The number of watches that have not ended.
    var openConnections: Int { openCount.withLock(\.self) }

    /// Waits for the next watch.
    func connection() async -> Connection? {
        var iterator = arrivals.makeAsyncIterator()
        return await iterator.next()
    }

    nonisolated(nonsending) func withResponse<Value>(
        to request: HTTPTransportRequest,
        _ receive: nonisolated(nonsending) (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        guard request.request.url!.lastPathComponent == "watch", case .data(let body) = request.body else {
            return try await MockTransport(answer).withResponse(to: request, receive)
        }
        try Task.checkCancellation()
        let message = try JSONDecoder().decode(Message.self, from: body)
        let (messages, send) = AsyncStream<Data>.makeStream()
        count.withLock { $0 += 1 }
        openCount.withLock { $0 += 1 }
        defer { openCount.withLock { $0 -= 1 } }
        arrive.yield(
            Connection(
                host: request.request.url!.host!,
                start: Int64(message.create_request.start_revision)!,
                token: request.request.value(forHTTPHeaderField: "Authorization"),
                messages: send
            )
        )
        let head = HTTPURLResponse(url: request.request.url!, statusCode: 200, httpVersion: nil, headerFields: nil)!
        // One reader, which reads inside `receive`.
        nonisolated(unsafe) var iterator = messages.makeAsyncIterator()
        return try await receive(HTTPTransportResponse(head: head, body: HTTPResponseBody { await iterator.next() }))
    }
}
