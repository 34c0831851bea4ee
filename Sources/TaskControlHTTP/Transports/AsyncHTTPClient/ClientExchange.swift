#if AsyncHTTPClient

internal import AsyncHTTPClient
internal import Dispatch
internal import Foundation
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1
internal import TaskControl

/// One request of an `HTTPClient`, and its response.
///
/// The task that reads the response fetches the parts of the body itself from the client's iterator, and passes them to
/// an ``ExchangeStateMachine``. So this task never waits for another thread, and the state machine stores no
/// continuation.
final class ClientExchange: Sendable {
    /// The place where the bodies of responses are decompressed.
    enum Decompression {
        case byTransport
        /// By the client of the transport, as its configuration says.
        case byClient
        /// Not known: the client was made by a user of the transport.
        case byUser

        /// The codings that are asked for if a request does not name any.
        var acceptedEncodings: String? {
            switch self {
            case .byTransport: "gzip, deflate"
            // The client does not understand deflate without the header of zlib.
            case .byClient: "gzip"
            case .byUser: nil
            }
        }
    }

    private typealias Machine = ExchangeStateMachine<HTTPURLResponse, Data>

    private struct State {
        var machine = Machine(limit: nil)
        /// The parts of the body that have not arrived yet; `nil` while the reader fetches one. Releasing this value ends
        /// the exchange.
        var rest: DecodedBody?
        /// The number of bytes of the request's body that have been sent.
        var sent: Int64 = 0
    }

    let request: HTTPTransportRequest
    let upload: UploadReader?
    /// The longest time for which the server may be silent; `nil` for the limit of the client's configuration.
    private let limit: Duration?
    private let decompression: Decompression
    private let state = Locked(State())

    init(_ request: HTTPTransportRequest, _ upload: UploadReader?, _ decompression: Decompression) {
        self.request = request
        self.upload = upload
        self.decompression = decompression
        let interval = request.request.timeoutInterval
        limit = interval == 60 || interval.isNaN ? nil : .seconds(min(max(interval, 0.001), 31_536_000))
    }

    /// Sends the request, unless the caller is cancelled, and waits for the head of the response.
    ///
    /// - Parameter client: Sends the request.
    /// - Throws: The error of the client; `CancellationError` if the caller is cancelled.
    func open(_ client: HTTPClient) async throws -> HTTPURLResponse {
        if state.withLock({ $0.machine.start() }) {
            do {
                if isStream, let limit {
                    try await openUnlessSilent(for: limit, client)
                } else {
                    let request = try clientRequest(for: client, decompression)
                    try receive(try await client.execute(request, deadline: deadline))
                }
            } catch {
                end(error)
            }
        }
        return try takeHead()
    }

    /// Passes the head of a response to the state machine.
    @inline(never)
    private func receive(_ response: HTTPClientResponse) throws {
        if let upload, !isStream { didSend(upload.length ?? 0, of: upload.length) }
        let head = try head(of: response)
        let rest = DecodedBody(response, decodes: decompression == .byTransport, limit: limit)
        state.withLock { $0.rest = rest }
        perform { $0.didStart() }
        perform { $0.receive(head: head) }
    }

    @inline(never)
    private func takeHead() throws -> HTTPURLResponse {
        switch state.withLock({ $0.machine.takeHead() }) {
        case .value(let head): head
        case .failure(let failure): throw failure.error(left: HTTPClientError.cancelled)
        case .wait, .end: throw URLError(.badServerResponse)
        }
    }

    /// The body of the response, for one reader.
    var body: HTTPResponseBody { HTTPResponseBody { try await self.next() } }

    private func next() async throws -> Data? {
        while true {
            let (answer, rest) = state.withLock { state in
                let (answer, _) = state.machine.takePart()
                guard case .wait = answer else { return (answer, DecodedBody?.none) }
                return (answer, state.rest.take())
            }
            switch answer {
            case .value(let part): return part
            case .end: return nil
            case .failure(let failure): throw failure.error(left: HTTPClientError.cancelled)
            case .wait:
                // The rest is missing while another reader fetches a part: one body has two readers.
                guard let rest else { throw HTTPClientError.cancelled }
                await fetch(from: rest)
            }
        }
    }

    /// Fetches the next part of the body, and passes it to the state machine.
    private func fetch(from rest: sending DecodedBody) async {
        var rest = rest
        do {
            guard let part = try await rest.next() else { return end(nil) }
            state.withLock { state in
                _ = state.machine.receive(part: part, bytes: part.count)
                if state.machine.isOpen { state.rest = rest }
            }
        } catch {
            end(error)
        }
    }

    /// Ends the exchange.
    ///
    /// - Parameter error: The error of the client's request; `nil` if it has succeeded.
    private func end(_ error: (any Error)?) {
        // The client ends the request of a cancelled task, and its body may then end without an error, as if it were
        // complete.
        let isCancelled = Task.isCancelled
        perform { isCancelled ? $0.cancel() : $0.end(error) }
    }

    func cancel() { perform { $0.cancel() } }

    func leave() { perform { $0.leave() } }

    private func perform(_ event: (inout Machine) -> Machine.Action) {
        // Released outside the lock, since this calls the client.
        let released = state.withLock { state in
            event(&state.machine).command == .cancel ? state.rest.take() : nil
        }
        withExtendedLifetime(released) {}
    }

    func didSend(_ sent: Int64, of length: Int64?) {
        let isOpen = state.withLock { state in
            state.sent = sent
            return state.machine.isOpen
        }
        if isOpen { request.didSend?(sent, length) }
    }
}

// MARK: Silence

extension ClientExchange {
    /// The instant until which a request without a stream waits for the head of its response.
    private var deadline: NIODeadline {
        limit.map { NIODeadline.now() + .nanoseconds($0.wholeNanoseconds) } ?? .distantFuture
    }

    @inline(never)
    private func openUnlessSilent(for limit: Duration, _ client: HTTPClient) async throws {
        let request = try clientRequest(for: client, decompression)
        let response = try await unlessSilent(for: limit) {
            try await client.execute(request, deadline: .distantFuture)
        }
        try receive(response)
    }

    /// Waits for a response, and throws if the server is silent for too long.
    ///
    /// - Parameters:
    ///   - limit: The time for which the server may be silent after bytes of the request were last sent. The function
    ///     checks at intervals of this length whether bytes were sent, so it may throw up to one interval later.
    ///   - execute: Sends the request.
    /// - Throws: `HTTPClientError.readTimeout` at the limit; the error of `execute`.
    private func unlessSilent(
        for limit: Duration,
        _ execute: @escaping @Sendable () async throws -> HTTPClientResponse
    ) async throws -> HTTPClientResponse {
        try await withThrowingTaskGroup(of: HTTPClientResponse.self) { group in
            group.addTask { try await execute() }
            group.addTask { [self] in
                var last: Int64 = -1
                while case let sent = state.withLock({ $0.sent }), sent != last {
                    last = sent
                    try await sleep(for: limit, on: ContinuousClock())
                }
                throw HTTPClientError.readTimeout
            }
            defer { group.cancelAll() }
            return try await group.next()!
        }
    }
}

extension Duration {
    fileprivate var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

extension ClientExchange {
    /// Whether the body of the request is sent part by part.
    private var isStream: Bool {
        guard upload != nil else { return false }
        if case .data(let data) = request.body { return data.count > UploadParts.size }
        return true
    }

    /// Returns the request in the form of AsyncHTTPClient.
    ///
    /// - Parameters:
    ///   - client: The client that will send the request. While a body is sent part by part, the reading of its next
    ///     parts waits for the event loops of this client.
    ///   - decompression: Decides which `Accept-Encoding` is added to a request that has none.
    /// - Throws: `URLError` if the URL of the request is not valid, or if the client would send another one.
    @inline(never)
    func clientRequest(for client: HTTPClient, _ decompression: Decompression) throws -> HTTPClientRequest {
        try request.checkURL(schemes: ["http", "https", "http+unix", "https+unix", "unix"])
        guard let url = request.request.url else { throw URLError(.badURL) }
        // The client (1.37) takes "/" for a path that it cannot decode, such as "/caf%E9".
        guard !url.path.isEmpty || url.path(percentEncoded: true).isEmpty else {
            throw URLError(.badURL, text: "AsyncHTTPClient cannot send a path whose escapes are not those of UTF-8.")
        }
        var translated = HTTPClientRequest(url: url.absoluteString)
        translated.method = HTTPMethod(rawValue: request.request.httpMethod ?? "GET")
        for (name, value) in request.request.allHTTPHeaderFields ?? [:] {
            translated.headers.add(name: name, value: value)
        }
        if let credential = url.basicCredential, !translated.headers.contains(name: "Authorization") {
            // On Apple's platforms, Foundation sends the credential only when the server asks for it.
            translated.headers.add(name: "Authorization", value: credential)
        }
        if let encodings = decompression.acceptedEncodings, !translated.headers.contains(name: "Accept-Encoding") {
            translated.headers.add(name: "Accept-Encoding", value: encodings)
        }
        guard let upload else { return translated }
        // The client adds the length of the body.
        translated.headers.remove(name: "Content-Length")
        translated.headers.remove(name: "Transfer-Encoding")
        if case .data(let data) = request.body, !isStream {
            translated.body = .bytes(ByteBuffer(data: data))
        } else {
            let length: HTTPClientRequest.Body.Length = upload.length.map { .known($0) } ?? .unknown
            translated.body = .stream(UploadParts(upload, self, client.eventLoopGroup), length: length)
        }
        return translated
    }

    /// Returns the head of a response in the form of Foundation.
    func head(of response: HTTPClientResponse) throws -> HTTPURLResponse {
        // Where the client has followed redirects of its own, the URL is that of the last one.
        let asked = request.request.url!
        let head = HTTPURLResponse(
            url: response.history.count > 1 ? response.url ?? asked : asked,
            statusCode: Int(response.status.code),
            httpVersion: response.version.major == 2 ? "HTTP/2" : "HTTP/1.1",
            headerFields: HeaderField.joined(response.headers.lazy.map { ($0.name, $0.value) })
        )
        guard let head else { throw URLError(.badServerResponse) }
        return head
    }
}

#endif
