import Foundation
import TaskControlHTTP
import TaskControlTesting

/// A transport without a network: each request is answered by a closure.
final class ScriptedTransport: HTTPTransport {
    /// The requests that were sent, in order.
    let sent = OrderRecorder<Sent>()

    private let respond: @Sendable (Sent) async throws -> Reply

    init(_ respond: @escaping @Sendable (Sent) async throws -> Reply = { _ in Reply() }) {
        self.respond = respond
    }

    /// Answers the first request with the first reply, and so on; the last one answers all that follow.
    convenience init(_ replies: Reply...) {
        let rest = Locked(replies)
        self.init { _ in rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
    }

    func withResponse<Value>(
        to request: HTTPTransportRequest,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        let sent = Sent(request.request, body: try request.body?.read(request.didSend))
        self.sent.record(sent)
        let reply = try await respond(sent)
        if let failure = reply.failure, reply.failsBeforeHead { throw failure }
        guard
            let head = HTTPURLResponse(
                url: reply.url ?? request.request.url!,
                statusCode: reply.status,
                httpVersion: nil,
                headerFields: reply.headers
            )
        else { throw URLError(.badServerResponse) }
        var chunks = reply.chunks
        return try await receive(
            HTTPTransportResponse(
                head: head,
                body: HTTPResponseBody {
                    if !chunks.isEmpty { return chunks.removeFirst() }
                    if let failure = reply.failure { throw failure }
                    return nil
                }
            )
        )
    }

    struct Sent: Sendable, Hashable, CustomStringConvertible {
        let method: String
        let url: String
        let headers: [String: String]
        let body: Data?

        init(_ request: URLRequest, body: Data?) {
            method = request.httpMethod ?? "GET"
            url = request.url?.absoluteString ?? ""
            headers = request.allHTTPHeaderFields ?? [:]
            self.body = body ?? request.httpBody
        }

        var authorization: String? { headers["Authorization"] }
        var description: String { "\(method) \(url)" }
    }

    struct Reply: Sendable {
        /// Where a redirect has led; `nil`: there was none.
        var url: URL?
        var status = 200
        var headers: [String: String] = [:]
        var chunks: [Data] = []
        /// Thrown after the chunks, or instead of all.
        var failure: (any Error)?
        var failsBeforeHead = false

        static func ok(_ text: String) -> Reply { Reply(chunks: [Data(text.utf8)]) }

        static func status(_ status: Int, _ text: String = "", headers: [String: String] = [:]) -> Reply {
            Reply(status: status, headers: headers, chunks: text.isEmpty ? [] : [Data(text.utf8)])
        }

        static func unreachable(_ error: any Error = URLError(.cannotConnectToHost)) -> Reply {
            Reply(failure: error, failsBeforeHead: true)
        }
    }
}

extension UploadEndpointBody {
    /// All of it, as a transport that keeps everything would send it.
    fileprivate func read(_ didSend: (@Sendable (Int64, Int64?) -> Void)?) throws -> Data {
        switch self {
        case .data(let data):
            didSend?(Int64(data.count), Int64(data.count))
            return data
        case .file(let url):
            let data = try Data(contentsOf: url)
            didSend?(Int64(data.count), Int64(data.count))
            return data
        case .stream(let upload):
            let (stream, length) = (try upload.open(), upload.length)
            stream.open()
            defer { stream.close() }
            var data = Data()
            var buffer = [UInt8](repeating: 0, count: 1_000)
            while true {
                let count = stream.read(&buffer, maxLength: buffer.count)
                guard count > 0 else { break }
                data.append(contentsOf: buffer[..<count])
                didSend?(Int64(data.count), length)
            }
            return data
        }
    }
}
