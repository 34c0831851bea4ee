import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct ObserverTests {
    private struct Seen: Hashable, Sendable, CustomStringConvertible {
        var url: String?
        var status: Int?
        var data: String?
        var error: String?

        var description: String { "\(url ?? "–") \(status ?? 0) \(data ?? "–") \(error ?? "–")" }
    }

    private let seen = OrderRecorder<Seen>()

    private var observer: ResponseObserver {
        { [seen] request, response, data, error in
            seen.record(
                Seen(
                    url: request?.url?.relativeString,
                    status: response?.statusCode,
                    data: data.map { String(decoding: $0, as: UTF8.self) },
                    error: error.map { ($0 as? EndpointError).map { "\($0.reason)" } ?? "\(type(of: $0))" }
                )
            )
        }
    }

    @Test func itHearsOfASuccessBeforeTheCaller() async throws {
        let client = EndpointClient(ScriptedTransport(.ok("a")), observer: observer)
        _ = try await client.request(Text())
        #expect(seen.events == [Seen(url: "http://h/api/text", status: 200, data: "a")])
    }

    @Test func itHearsOfEachFailureWithAllThatArrived() async throws {
        struct Unmade: Endpoint {
            typealias Content = String
            func makeRequest() throws -> URLRequest { throw Mishap() }
        }
        let cut = ScriptedTransport.Reply(
            chunks: [Data("par".utf8), Data("t".utf8)],
            failure: URLError(.networkConnectionLost)
        )
        await fail(.status(404, "gone"), Checked())
        await fail(.ok("not json"), Numbers())
        await fail(.unreachable(), Text())
        await fail(cut, Text())
        await fail(.ok(""), Text(path: "../up"))
        await fail(.ok(""), Unmade())
        #expect(
            seen.events == [
                Seen(url: "http://h/api/checked", status: 404, data: "gone", error: "status"),
                Seen(url: "http://h/api/numbers?token=hush", status: 200, data: "not json", error: "content"),
                Seen(url: "http://h/api/text", error: "transport"),
                Seen(url: "http://h/api/text", status: 200, data: "part", error: "transport"),
                Seen(url: "../up", error: "request"),
                Seen(error: "Mishap"),
            ]
        )
    }

    @Test func itHearsOfACancellationWithAllThatArrived() async throws {
        let gate = Gate()
        let client = EndpointClient(HalfWay(gate: gate), observer: observer)
        let caller = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(seen.events == [Seen(url: "http://h/api/text", status: 200, data: "half", error: "CancellationError")])
    }

    @Test func itHearsNothingOfACallerThatWasCancelledBefore() async throws {
        let client = EndpointClient(ScriptedTransport(.ok("")), observer: observer)
        let caller = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.request(Text())
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(seen.events == [])
    }

    @Test func itHearsOfEachAttemptInOrder() async throws {
        let retry = HTTPRetryPolicy(backoff: .none)
        let client = EndpointClient(
            ScriptedTransport(.status(503, "a"), .status(401, "b"), .ok("c")),
            policies: ClientPolicies(authenticator: .bearer(initial: "old") { _ in "new" }, retry: retry),
            observer: observer
        )
        #expect(try await client.request(Text()) == "c")
        let url = "http://h/api/text"
        #expect(
            seen.events == [
                Seen(url: url, status: 503, data: "a", error: "status"),
                Seen(url: url, status: 401, data: "b", error: "unauthorized"),
                Seen(url: url, status: 200, data: "c"),
            ]
        )
    }

    private func fail<E: Endpoint>(_ reply: ScriptedTransport.Reply, _ endpoint: E) async {
        let client = EndpointClient(ScriptedTransport(reply), observer: observer)
        await #expect(throws: (any Error).self) { try await client.request(endpoint) }
    }

    /// Delivers half of a body, and waits.
    private struct HalfWay: HTTPTransport {
        let gate: Gate

        func withResponse<Value>(
            to request: HTTPTransportRequest,
            _ receive: (HTTPTransportResponse) async throws -> Value
        ) async throws -> Value {
            var isFirst = true
            let head = HTTPURLResponse(url: request.request.url!, statusCode: 200, httpVersion: nil, headerFields: nil)!
            let body = HTTPResponseBody {
                if isFirst {
                    isFirst = false
                    return Data("half".utf8)
                }
                try await gate.wait()
                return nil
            }
            return try await receive(HTTPTransportResponse(head: head, body: body))
        }
    }
}
