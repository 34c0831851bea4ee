import Foundation
import TaskControl
internal import TaskControlFleet
import TaskControlHTTP

/// The connection of an ``EtcdStore`` to the members of its cluster: sends requests, chooses the endpoint, adds the
/// authentication token, and classifies failures.
final class EtcdConnection: Sendable {
    /// A rule for whether a request may be sent again although it may have been executed.
    enum Repetition: Sendable {
        /// After every failure of the network, the request is sent to the next endpoint.
        case allowed
        /// The request is sent again only if it was certainly not executed.
        case refused
    }

    private static let cleartext = EtcdFailure(
        .refused,
        "an endpoint is not https, and would receive the password in clear text: permit it with EtcdStore.Credentials(…, allowsCleartext: true)"
    )
    static let noEndpoints = EtcdFailure(.refused, "the store has no endpoints: give EtcdStore at least one")

    let endpoints: [URL]
    private let credentials: EtcdStore.Credentials?
    private let transport: any HTTPTransport
    private let attemptTimeout: Duration
    private let maxResponse: Int
    let clock: any Clock<Duration>
    let source: EventSource
    private let rotation: Locked<EtcdEndpointRotation>
    private let tokens = EtcdTokens()

    /// Creates a connection to the cluster with the given endpoints. Sends no request.
    ///
    /// - Parameters: The parameters of the store's initializer, and `maxResponse`: the maximum size of a response, and
    ///   of each message of a stream, in bytes. By default 64 MiB, many times the size that etcd accepts for a request
    ///   (1.5 MiB).
    init(
        endpoints: [URL],
        credentials: EtcdStore.Credentials?,
        transport: any HTTPTransport,
        attemptTimeout: Duration,
        clock: any Clock<Duration>,
        name: String?,
        maxResponse: Int = 64 << 20
    ) {
        self.endpoints = endpoints
        self.credentials = credentials
        self.transport = transport
        // With a limit of zero, no attempt would begin.
        self.attemptTimeout = max(.milliseconds(1), attemptTimeout)
        self.clock = clock
        self.maxResponse = maxResponse
        source = EventSource(.etcdStore, name: name)
        rotation = Locked(EtcdEndpointRotation(count: endpoints.count))
    }

    // MARK: Requests

    /// Sends a request to one endpoint after another until an endpoint has executed the request, and returns the response.
    ///
    /// - Parameters:
    ///   - path: The path of the request, without the version, such as `kv/range`.
    ///   - message: The body of the request, which is sent as JSON.
    ///   - repetition: Whether the request may be sent again although it may have been executed.
    ///
    /// - Throws: `StoreError`; `CancellationError` if the caller is cancelled.
    func send<Response: Decodable & Sendable>(
        _ path: String,
        _ message: some Encodable,
        _ repetition: Repetition,
        as type: Response.Type = Response.self
    ) async throws -> Response {
        do {
            return try await execute(path, Self.encode(message), repetition)
        } catch {
            // An endpoint can have answered with an error while the caller was cancelled.
            try Task.checkCancellation()
            throw error
        }
    }

    private func execute<Response: Decodable & Sendable>(
        _ path: String,
        _ body: Data,
        _ repetition: Repetition
    ) async throws -> Response {
        var unknown: EtcdFailure?
        var last = Self.noEndpoints
        var mayFetchToken = credentials != nil
        // Authentication may move on to another endpoint.
        _ = try await token()
        let order = rotation.withLock(\.order)
        for (index, endpoint) in order.enumerated() {
            attempts: while true {
                let token = try await token(after: unknown)
                // A request that is not sent again does not need to leave time for other endpoints.
                let limit = repetition == .allowed ? share(of: order.count - index) : attemptTimeout
                do {
                    return try await attempt(path, body, repetition, at: endpoint, token: token?.text, limit: limit)
                } catch let failure as EtcdFailure {
                    switch failure.kind {
                    case .tokenRefused where mayFetchToken:
                        mayFetchToken = false
                        if let token { tokens.refuse(token) }
                        continue attempts
                    case .notExecuted: break
                    case .unknown:
                        unknown = failure
                        if repetition == .refused {
                            moveOn(from: endpoint, failure)
                            throw failure.storeError
                        }
                    // The lease no longer exists, regardless of what an earlier attempt has done.
                    case .leaseNotFound: throw failure.storeError
                    // An endpoint that refuses a request does not say whether an earlier one has executed it.
                    default: throw (unknown ?? failure).storeError
                    }
                    moveOn(from: endpoint, failure)
                    last = failure
                    break attempts
                }
            }
        }
        throw (unknown ?? last).storeError
    }

    /// Returns the time limit of the next attempt: an equal share of the caller's remaining time for each endpoint that
    /// has not been tried, and at most the limit of an attempt.
    ///
    /// - Parameter endpoints: The number of endpoints that have not been tried.
    private func share(of endpoints: Int) -> Duration {
        guard let remaining = Task.currentDeadline?.remaining else { return attemptTimeout }
        return min(attemptTimeout, max(.milliseconds(1), remaining / endpoints))
    }

    /// The progress of one attempt to send a request to one endpoint.
    private struct Progress {
        var hasBegun = false
        /// Whether a part of the request's body was sent.
        var hasSent = false
        /// Whether the head of a response has arrived.
        var isAnswered = false
    }

    /// Sends a request to one endpoint, and decodes its response.
    ///
    /// If the caller is cancelled before the endpoint has answered, later operations begin with the next endpoint.
    /// Without this rule, operations whose deadline is shorter than the time limit of an attempt would all be sent to
    /// the same endpoint, although that endpoint does not answer.
    ///
    /// - Parameters:
    ///   - path: The path of the request, without the version, such as `kv/range`.
    ///   - body: The body of the request.
    ///   - repetition: Whether the HTTP client may send the request again.
    ///   - endpoint: The index of the endpoint in ``endpoints``.
    ///   - token: The authentication token; `nil` for none.
    ///   - limit: The time limit of the attempt.
    ///
    /// - Throws: `EtcdFailure`; `CancellationError` if the caller is cancelled.
    private func attempt<Response: Decodable & Sendable>(
        _ path: String,
        _ body: Data,
        _ repetition: Repetition,
        at endpoint: Int,
        token: String?,
        limit: Duration
    ) async throws -> Response {
        let progress = Locked(Progress())
        var request = HTTPTransportRequest(
            request(path, at: endpoint, token: token),
            body: repetition == .allowed ? .data(body) : .sentOnce(body),
            credentialHeaders: ["Authorization"]
        )
        request.didSend = { sent, _ in if sent > 0 { progress.withLock { $0.hasSent = true } } }
        let (status, answer) = try await limited(limit, progress, at: endpoint) { [request] in
            progress.withLock { $0.hasBegun = true }
            return try await self.transport.withResponse(to: request) { response in
                progress.withLock { $0.isAnswered = true }
                var answer = Data()
                for try await part in response.body {
                    answer += part
                    if answer.count > self.maxResponse { throw EtcdFailure(.unknown, "the answer is too long") }
                }
                return (response.head.statusCode, answer)
            }
        }
        guard status == 200 else { throw EtcdFailure(status: status, body: answer) }
        do {
            return try JSONDecoder().decode(Response.self, from: answer)
        } catch {
            // The error of the decoder can contain what was received.
            throw EtcdFailure(.unknown, "the answer cannot be decoded")
        }
    }

    /// Runs an attempt with a time limit, and converts its error to an `EtcdFailure`. Throws `CancellationError` if the
    /// caller is cancelled. `progress` is the progress that the operation records, and `endpoint` the index of its
    /// endpoint.
    private func limited<Value: Sendable>(
        _ limit: Duration,
        _ progress: Locked<Progress>,
        at endpoint: Int,
        _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        do {
            // `self`: see scripts/workarounds/existential.swift.
            return try await withTimeout(limit, clock: self.clock, operation: operation)
        } catch {
            let progress = progress.withLock(\.self)
            if Task.isCancelled {
                if progress.hasBegun, !progress.isAnswered { rotation.withLock { $0.failed(endpoint) } }
                throw CancellationError()
            }
            switch error {
            case let failure as EtcdFailure: throw failure
            case is TimeoutError: throw EtcdFailure(.unknown, "no answer within \(limit)")
            default: throw EtcdFailure(transport: error, hasSent: progress.hasSent)
            }
        }
    }

    private func request(_ path: String, at endpoint: Int, token: String?) -> URLRequest {
        var request = URLRequest(url: endpoints[endpoint].appendingPathComponent("v3/" + path))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        // A member without a leader answers with an error, and does not keep its callers waiting.
        request.setValue("true", forHTTPHeaderField: "Grpc-Metadata-hasleader")
        if let token { request.setValue(token, forHTTPHeaderField: "Authorization") }
        return request
    }

    private static func encode(_ message: some Encodable) throws -> Data {
        do {
            return try JSONEncoder().encode(message)
        } catch {
            throw StoreError(.refused, "the request cannot be encoded")
        }
    }

    private func moveOn(from endpoint: Int, _ failure: EtcdFailure) {
        rotation.withLock { $0.failed(endpoint) }
        emit(.endpointFailed, failure.storeError, at: endpoint)
    }

    func emit(_ kind: TaskEvent.Kind, _ error: StoreError?, at endpoint: Int?) {
        source.emit(kind, error: error, detail: endpoint.map { endpoints[$0].place })
    }

    // MARK: Tokens

    /// Returns the token for the next attempt; `nil` if the store has no credentials.
    ///
    /// - Parameter unknown: The failure of an earlier attempt that may have executed the request; `nil` if there was
    ///   none. If no token can be obtained, this failure is thrown instead of the failure of the authentication.
    private func token(after unknown: EtcdFailure? = nil) async throws -> EtcdTokens.Token? {
        guard let credentials else { return nil }
        guard credentials.allowsCleartext || endpoints.allSatisfy({ $0.scheme?.lowercased() == "https" }) else {
            throw Self.cleartext.storeError
        }
        do {
            return try await tokens.token { [self] in try await authenticate(credentials) }
        } catch let error as StoreError {
            if let unknown { throw unknown.storeError }
            // The operation itself was not sent.
            throw error.reason == .ambiguous ? StoreError(.unavailable, "authentication: \(error.message)") : error
        }
    }

    private func authenticate(_ credentials: EtcdStore.Credentials) async throws -> String? {
        let message = EtcdAuthenticateRequest(name: credentials.user, password: credentials.password)
        let body = try Self.encode(message)
        var last = Self.noEndpoints
        for endpoint in rotation.withLock(\.order) {
            do {
                let response: EtcdAuthenticateResponse = try await attempt(
                    "auth/authenticate",
                    body,
                    // A redirect would send the password to another server.
                    .refused,
                    at: endpoint,
                    token: nil,
                    // Not the remaining time of a caller: the fetch of the token is shared by all callers, and has no deadline.
                    limit: attemptTimeout
                )
                emit(.authenticated, nil, at: endpoint)
                return response.token
            } catch let failure as EtcdFailure {
                switch failure.kind {
                case .authenticationNotEnabled: return nil
                case .notExecuted, .unknown: moveOn(from: endpoint, failure)
                default: throw failure.storeError
                }
                last = failure
            }
        }
        throw last.storeError
    }

    // MARK: Streams

    /// Sends a request to one endpoint, and calls a closure with each message of the response as it arrives.
    ///
    /// - Parameters:
    ///   - path: The path of the request, without the version, such as `watch`.
    ///   - message: The body of the request, which is sent as JSON.
    ///   - endpoint: The index of the endpoint in ``endpoints``.
    ///   - token: The authentication token; `nil` if the store has no credentials.
    ///   - receive: Called with each message.
    /// - Throws: `EtcdFailure` if the request fails or the stream ends; `StoreError` if the request cannot be encoded; the error of `receive`;
    ///   `CancellationError`.
    func stream<Message: Decodable & Sendable>(
        _ path: String,
        _ message: some Encodable,
        at endpoint: Int,
        token: EtcdTokens.Token?,
        receive: nonisolated(nonsending) (Message) async throws -> Void
    ) async throws {
        var request = request(path, at: endpoint, token: token?.text)
        // A year: a watch can be silent for as long as nothing changes.
        request.timeoutInterval = 31_536_000
        let body = try Self.encode(message)
        do {
            try await transport.withResponse(
                to: HTTPTransportRequest(request, body: .data(body), credentialHeaders: ["Authorization"])
            ) { response in
                var lines = response.lines(maxBytes: self.maxResponse).makeAsyncIterator()
                guard response.head.statusCode == 200 else {
                    let answer = try await lines.next() ?? ""
                    throw EtcdFailure(status: response.head.statusCode, body: Data(answer.utf8))
                }
                while let line = try await lines.next() {
                    if line.isEmpty { continue }
                    try await receive(Self.message(line))
                }
                throw EtcdFailure(.unknown, "the stream has ended")
            }
        } catch {
            try Task.checkCancellation()
            if error is EtcdFailure || error is StoreError { throw error }
            if (error as? EndpointError)?.reason == .bodyTooLarge {
                throw EtcdFailure(.tooLong, "a message is longer than \(maxResponse) bytes")
            }
            throw EtcdFailure(transport: error, hasSent: true)
        }
    }

    private static func message<Message: Decodable & Sendable>(_ line: String) throws -> Message {
        guard let message = try? JSONDecoder().decode(EtcdStreamMessage<Message>.self, from: Data(line.utf8)) else {
            throw EtcdFailure(.unknown, "a message cannot be decoded")
        }
        if let error = message.error { throw error.failure }
        guard let result = message.result else { throw EtcdFailure(.unknown, "a message is empty") }
        return result
    }

    /// Returns the token for a stream; `nil` if the store has no credentials.
    func streamToken() async throws -> EtcdTokens.Token? { try await token() }

    /// Discards a token that etcd has refused for a stream. Does nothing if a newer token has already replaced that
    /// token.
    func refuse(_ token: EtcdTokens.Token) { tokens.refuse(token) }
}

extension URL {
    /// The host and the port, without user and password.
    fileprivate var place: String { (host ?? "") + (port.map { ":\($0)" } ?? "") }
}

extension UploadEndpointBody {
    /// Creates a body that can be read only once. So the HTTP client cannot repeat the request on its own: libcurl
    /// repeats a POST when a reused connection turns out to be closed, although the server may have executed the
    /// request, and transports send the body again when they follow a redirect.
    fileprivate static func sentOnce(_ data: Data) -> UploadEndpointBody {
        let isFirst = Locked(true)
        return .stream(length: Int64(data.count)) {
            guard
                isFirst.withLock({ first in
                    defer { first = false }
                    return first
                })
            else {
                throw EtcdFailure(.unknown, "the connection was closed before the answer, or the answer is a redirect")
            }
            return InputStream(data: data)
        }
    }
}

/// The order in which the endpoints of a cluster are tried: first the endpoint that is in use, then the endpoints after it in the given array, and
/// then those before it.
struct EtcdEndpointRotation: Hashable, Sendable {
    private let count: Int
    private(set) var current = 0

    /// Creates a rotation that begins with the first endpoint.
    ///
    /// - Parameter count: The number of endpoints.
    init(count: Int) { self.count = count }

    /// The indices of all endpoints, in the order in which an operation tries them.
    var order: [Int] { (0..<count).map { (current + $0) % count } }

    /// Moves on to the endpoint after the endpoint with this index, which has failed. Does nothing if a concurrent
    /// operation has already moved on.
    mutating func failed(_ endpoint: Int) {
        if endpoint == current, count > 0 { current = (current + 1) % count }
    }
}
