#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1
internal import TaskControl

/// One request of an `HTTPClient`, and its response.
///
/// The task that reads the response fetches the parts of the body itself from the client's iterator, and passes them to
/// an ``ExchangeStateMachine``. So this task never waits for another thread, and the state machine stores no
/// continuation: its `Waiter` is `Never`.
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

    private typealias Machine = ExchangeStateMachine<HTTPURLResponse, Data, Never>

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
                let (request, isStream) = try clientRequest(for: client, decompression)
                let response = try await execute(request, on: client, isStream: isStream)
                if let upload, !isStream { didSend(upload.length ?? 0, of: upload.length) }
                let head = try head(of: response)
                let rest = DecodedBody(response, decodes: decompression == .byTransport, limit: limit)
                state.withLock { $0.rest = rest }
                perform { $0.didStart() }
                perform { $0.receive(head: head) }
            } catch {
                end(error)
            }
        }
        return switch state.withLock({ $0.machine.takeHead() }) {
        case .value(let head): head
        case .failure(let failure): throw failure.error(left: HTTPClientError.cancelled)
        // Not reached: by now there is a head, or a failure.
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
    private func execute(
        _ request: HTTPClientRequest,
        on client: HTTPClient,
        isStream: Bool
    ) async throws -> HTTPClientResponse {
        guard let limit else { return try await client.execute(request, deadline: .distantFuture) }
        guard isStream else {
            let deadline = NIODeadline.now() + .nanoseconds(limit.wholeNanoseconds)
            return try await client.execute(request, deadline: deadline)
        }
        return try await unlessSilent(for: limit) { try await client.execute(request, deadline: .distantFuture) }
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
#endif
