extension RequestPipeline {
    /// How much of a response that is not as hoped is read for the endpoint's `validate` and for errors.
    private static let excerpt = 65_536

    func withResponse<E: Endpoint, Value>(
        to endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        let reporter = onProgress.map(ProgressReporter.init)
        return try await run {
            (try endpoint.makeRequest(), nil)
        } exchange: { outgoing, arrival in
            let progress = reporter?.begin()
            defer { progress?.end() }
            return try await transport.withResponse(to: outgoing.transported(progress)) { response in
                let head = response.head
                arrival.response = head
                progress?.expect(head)
                let reader = BodyReader(response.body, progress) { error in
                    // What the receiver sees of a body that breaks off; it throws it on, as a rule.
                    error is CancellationError ? error : HTTPError(.transport, underlyingError: error)
                }
                let isAsHoped = (200..<300).contains(head.statusCode)
                if !isAsHoped { arrival.data = try await reader.peek(Self.excerpt) }
                arrival.stage = .reading
                try check(arrival, to: outgoing.shown) {
                    try endpoint.validate(outgoing.shown, response: head, data: arrival.data)
                }
                return try await receive(HTTPTransportResponse(head: head, body: HTTPResponseBody(next: reader.next)))
            }
        }
    }
}

/// A body of which the first bytes may be read twice.
private final class BodyReader {
    private var iterator: HTTPResponseBody.AsyncIterator
    private var peeked: [Data] = []
    private let progress: ProgressReporter.Attempt?
    private let failure: (any Error) -> any Error

    init(_ body: HTTPResponseBody, _ progress: ProgressReporter.Attempt?, failure: @escaping (any Error) -> any Error) {
        iterator = body.makeAsyncIterator()
        self.progress = progress
        self.failure = failure
    }

    func next() async throws -> Data? {
        if !peeked.isEmpty { return peeked.removeFirst() }
        return try await read()
    }

    private func read() async throws -> Data? {
        do {
            let chunk = try await iterator.next()
            if let chunk { progress?.didReceive(chunk.count) }
            return chunk
        } catch {
            throw failure(error)
        }
    }

    /// The first bytes: so many, or all that there are. Waits for them.
    func peek(_ limit: Int) async throws -> Data {
        var data = Data()
        while data.count < limit, let chunk = try await read() {
            peeked.append(chunk)
            data.append(chunk.prefix(limit - data.count))
        }
        return data
    }
}
