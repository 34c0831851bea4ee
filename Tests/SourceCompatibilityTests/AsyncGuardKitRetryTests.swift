import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

// MARK: What the document's code uses and does not show

private struct Request {
    var text: String
}

private struct Database {
    func query() async throws -> String { try await Backend.answer("query") }
}

extension API {
    fileprivate func call() async throws -> String { try await Backend.answer("call") }
    fileprivate func fetchData() async throws -> String { try await Backend.answer("data") }
    fileprivate func post(_ request: Request) async throws -> String { try await Backend.answer(request.text) }
}

private let database = Database()

private struct Endpoint {
    var path: String
}

private struct TokenStore {
    func refreshIfNeeded() async throws -> String { try await Backend.answer("token") }
}

/// The type to decode; not Sendable.
private final class Page: Decodable {
    let title: String
}

extension AuthenticatedAPIClient {
    fileprivate func perform<T: Decodable>(_ endpoint: Endpoint, authorization: String) async throws -> T {
        let answer = try await Backend.answer("\(endpoint.path) with \(authorization)")
        return try JSONDecoder().decode(T.self, from: Data("{\"title\": \"\(answer)\"}".utf8))
    }
}

// MARK: The document's types

#if swift(>=6) && !MAIN_ACTOR_BY_DEFAULT
// Changed for language mode 6: the work of a flight captures it. A client has a `let` only, and may declare it `final` and checked.
extension AuthenticatedAPIClient: @unchecked Sendable {}
#endif

private class AuthenticatedAPIClient {
    let tokenStore = TokenStore()

    func request<T: Decodable>(_ endpoint: Endpoint) async throws -> T {
        // Token refreshed exactly once regardless of concurrent callers
        let token = try await withSingleFlight(key: "auth-token") {
            try await tokenStore.refreshIfNeeded()
        }

        return try await retry(
            attempts: 3,
            backoff: .exponential(base: .milliseconds(500)),
            shouldRetry: { ($0 as? URLError)?.isTransient == true }
        ) {
            try await self.perform(endpoint, authorization: token)
        }
    }
}

extension URLError {
    fileprivate var isTransient: Bool {
        [.networkConnectionLost, .timedOut, .notConnectedToInternet].contains(code)
    }
}

// MARK: - Retry

/// Where a second attempt would follow a real delay, the first one succeeds or is not worth another.
@Suite(.timeLimit(.minutes(15)), .oneUserOfTheRegistry)
struct AsyncGuardKitRetryTests {
    private let requests = OrderRecorder<String>()

    /// Asks a backend that answers with what it was asked, or fails.
    private func asking<Value: Sendable>(
        _ failure: URLError? = nil,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let backend = Backend { [requests] request in
            requests.record(request)
            if let failure { throw failure }
            return request
        }
        return try await backend.serving { Task { try await body() } }.value
    }

    @Test func aCallIsRetried() async throws {
        let answer = try await asking {
            let data = try await retry(attempts: 3, backoff: .exponential(base: .seconds(1))) {
                try await api.call()
            }
            return data
        }
        #expect(answer == "call")
    }

    @Test func exponential() async throws {
        let answer = try await asking {
            // Exponential: 1s → 2s → 4s
            let data = try await retry(attempts: 3, backoff: .exponential(base: .seconds(1))) {
                try await api.fetchData()
            }
            return data
        }
        #expect(answer == "data")
    }

    @Test func fixed() async throws {
        let answer = try await asking {
            // Fixed: 500ms between each attempt
            let result = try await retry(attempts: 5, backoff: .fixed(.milliseconds(500))) {
                try await database.query()
            }
            return result
        }
        #expect(answer == "query")
    }

    @Test func onlyOnSpecificErrors() async throws {
        let request = Request(text: "post")
        let post = { @Sendable in
            // Conditional: only retry on specific errors
            let response = try await retry(attempts: 3, backoff: .exponential(base: .seconds(1))) {
                try await api.post(request)
            } shouldRetry: { error in
                (error as? URLError)?.code == .networkConnectionLost
            }
            return response
        }
        #expect(try await asking(nil, post) == "post")
        await #expect(throws: URLError.self) { try await asking(URLError(.badURL), post) }
        #expect(requests.events == ["post", "post"])
    }

    @Test func theOptionsOfTheBackoff() async throws {
        let options: [RetryBackoff] = [.none, .fixed(.milliseconds(500)), .exponential(base: .seconds(1))]
        for backoff in options {
            #expect(
                try await asking { try await retry(attempts: 2, backoff: backoff) { try await api.call() } } == "call"
            )
        }
        await #expect(throws: URLError.self) {
            try await asking(URLError(.timedOut)) {
                try await retry(attempts: 3, backoff: .none) { try await api.call() }
            }
        }
        #expect(requests.events.count == 6)
    }

    @Test func anAuthenticatedClient() async throws {
        let client = AuthenticatedAPIClient()
        let page: Page = try await client.request(Endpoint(path: "feed"))
        #expect(page.title == "feed with token")
        #expect(URLError(.timedOut).isTransient && !URLError(.badURL).isTransient)
    }
}
