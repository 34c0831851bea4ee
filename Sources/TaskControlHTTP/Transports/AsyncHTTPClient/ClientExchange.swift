#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

/// One request of an `HTTPClient` and its response.
final class ClientExchange: Sendable {
    private enum State {
        case unopened
        case ready(HTTPClientResponse.Body.AsyncIterator)
        /// The iterator is with the reader.
        case reading
        case ended
        case gone(cancelled: Bool)
    }

    private let request: HTTPTransportRequest
    private let upload: UploadReader?
    /// How long the server may be silent, if that is not for the client to say.
    private let limit: Duration?
    private let state = Locked(State.unopened)
    /// How much of the body has been sent.
    private let sent = Locked<Int64>(0)

    init(_ request: HTTPTransportRequest, _ upload: UploadReader?) {
        self.request = request
        self.upload = upload
        let interval = request.request.timeoutInterval
        limit = interval == 60 || interval.isNaN ? nil : .seconds(min(max(interval, 0.001), 31_536_000))
    }

    /// Sends the request, and waits for the head.
    func open(_ client: HTTPClient, asksForEncoding: Bool) async throws -> HTTPURLResponse {
        let (outgoing, isStream) = try outgoing(for: client, asksForEncoding: asksForEncoding)
        let response: HTTPClientResponse
        do {
            response = try await execute(outgoing, on: client, isStream: isStream)
        } catch {
            throw Task.isCancelled ? CancellationError() : error
        }
        if let upload, !isStream { didSend(upload.length ?? 0, of: upload.length) }
        let head = try Self.head(of: response, to: request.request)
        let isWanted = state.withLock { state in
            guard case .unopened = state else { return false }
            state = .ready(response.body.makeAsyncIterator())
            return true
        }
        guard isWanted else { throw CancellationError() }
        return head
    }

    private func execute(_ outgoing: HTTPClientRequest, on client: HTTPClient, isStream: Bool) async throws
        -> HTTPClientResponse
    {
        guard let limit else { return try await client.execute(outgoing, deadline: .distantFuture) }
        guard isStream else {
            let deadline = NIODeadline.now() + .nanoseconds(limit.wholeNanoseconds)
            return try await client.execute(outgoing, deadline: deadline)
        }
        return try await unlessSilent(for: limit) { try await client.execute(outgoing, deadline: .distantFuture) }
    }

    /// The next part of the body.
    func next() async throws -> Data? {
        let (taken, wasCancelled) = state.withLock { state -> (State, Bool) in
            switch state {
            case .ready:
                defer { state = .reading }
                return (state, false)
            case .gone(let cancelled): return (.ended, cancelled)
            case .unopened, .reading, .ended: return (.ended, false)
            }
        }
        guard case .ready(var iterator) = taken else {
            throw wasCancelled ? CancellationError() : HTTPClientError.cancelled
        }
        do {
            let part =
                if let limit { try await Self.next(of: &iterator, within: limit) } else { try await iterator.next() }
            // The client ends the body, and not as a failure, for a reader that is cancelled.
            guard let part else {
                try Task.checkCancellation()
                state.withLock { if case .reading = $0 { $0 = .ended } }
                return nil
            }
            state.withLock { if case .reading = $0 { $0 = .ready(iterator) } }
            return Data(buffer: part)
        } catch {
            state.withLock { if case .reading = $0 { $0 = .ended } }
            throw Task.isCancelled ? CancellationError() : error
        }
    }

    /// Reads the body of a response that nobody wants, if it is short: so the connection can be used again.
    func discard() async throws {
        var count = 0
        while count < 1 << 16, let part = try await next() { count += part.count }
    }

    func cancel() { end(.gone(cancelled: true)) }

    func leave() { end(.gone(cancelled: false)) }

    /// The client ends an exchange whose iterator is let go: here, outside the lock.
    private func end(_ end: State) {
        let last = state.withLock { state -> State in
            if case .gone = state { return .ended }
            defer { state = end }
            return state
        }
        withExtendedLifetime(last) {}
    }

    func didSend(_ sent: Int64, of length: Int64?) {
        self.sent.withLock { $0 = sent }
        guard let didSend = request.didSend else { return }
        let isOpen = state.withLock { if case .gone = $0 { false } else { true } }
        if isOpen { didSend(sent, length) }
    }
}

// MARK: Silence

extension ClientExchange {
    private static func next(of iterator: inout HTTPClientResponse.Body.AsyncIterator, within limit: Duration)
        async throws
        -> ByteBuffer?
    {
        // Used by the child task alone, while this one waits for its end.
        nonisolated(unsafe) var reading = iterator
        defer { iterator = reading }
        do {
            return try await withTimeout(limit) { try await reading.next() }
        } catch is TimeoutError {
            throw HTTPClientError.readTimeout
        }
    }

    /// Waits for a response; throws when nothing has been sent for so long.
    private func unlessSilent(
        for limit: Duration,
        _ execute: @escaping @Sendable () async throws -> HTTPClientResponse
    ) async throws -> HTTPClientResponse {
        try await withThrowingTaskGroup(of: HTTPClientResponse.self) { group in
            group.addTask { try await execute() }
            group.addTask { [sent = sent] in
                var last: Int64 = -1
                while case let now = sent.withLock({ $0 }), now != last {
                    last = now
                    try await Task.sleep(for: limit)
                }
                throw HTTPClientError.readTimeout
            }
            defer { group.cancelAll() }
            return try await group.next()!
        }
    }
}

// MARK: Translation

extension ClientExchange {
    /// The request in the client's words; and whether its body is one that is sent part by part.
    private func outgoing(for client: HTTPClient, asksForEncoding: Bool) throws -> (HTTPClientRequest, isStream: Bool) {
        try request.checkURL(schemes: ["http", "https", "http+unix", "https+unix", "unix"])
        guard let url = request.request.url else { throw URLError(.badURL) }
        var outgoing = HTTPClientRequest(url: url.absoluteString)
        outgoing.method = HTTPMethod(rawValue: request.request.httpMethod ?? "GET")
        for (name, value) in request.request.allHTTPHeaderFields ?? [:] {
            outgoing.headers.add(name: name, value: value)
        }
        if let user = url.user(percentEncoded: false), !outgoing.headers.contains(name: "Authorization") {
            // As Foundation on Linux does, and Foundation elsewhere when it is asked.
            let credential = Data("\(user):\(url.password(percentEncoded: false) ?? "")".utf8).base64EncodedString()
            outgoing.headers.add(name: "Authorization", value: "Basic \(credential)")
        }
        if asksForEncoding, !outgoing.headers.contains(name: "Accept-Encoding") {
            outgoing.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
        }
        guard let upload else { return (outgoing, false) }
        // The client says how long a body is.
        outgoing.headers.remove(name: "Content-Length")
        outgoing.headers.remove(name: "Transfer-Encoding")
        if case .data(let data) = request.body, data.count <= UploadParts.size {
            outgoing.body = .bytes(ByteBuffer(data: data))
            return (outgoing, false)
        }
        let length: HTTPClientRequest.Body.Length = upload.length.map { .known($0) } ?? .unknown
        outgoing.body = .stream(UploadParts(upload, self, client.eventLoopGroup), length: length)
        return (outgoing, true)
    }

    private static func head(of response: HTTPClientResponse, to request: URLRequest) throws -> HTTPURLResponse {
        var fields: [String: String] = [:]
        fields.reserveCapacity(response.headers.count)
        for (name, value) in response.headers {
            if let before = fields.updateValue(value, forKey: name) { fields[name] = before + ", " + value }
        }
        // Where the client has followed redirects of its own, the URL is the last one's.
        let url = response.history.count > 1 ? response.url ?? request.url! : request.url!
        let head = HTTPURLResponse(
            url: url,
            statusCode: Int(response.status.code),
            httpVersion: response.version.major == 2 ? "HTTP/2" : "HTTP/1.1",
            headerFields: fields
        )
        guard let head else { throw URLError(.badServerResponse) }
        return head
    }
}

extension Duration {
    fileprivate var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
#endif
