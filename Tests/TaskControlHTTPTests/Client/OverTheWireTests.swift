import Dispatch
import FlyingFox
import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

/// The client's promises, over both transports, against servers that are there.
@Suite(.timeLimit(.minutes(15)))
struct OverTheWireTests {
    @Test(.tags(.large), arguments: TransportUnderTest.allCases)
    func manyRequestsOverAnExpiredTokenMakeOneRefresh(_ kind: TransportUnderTest) async throws {
        let count = fullSize(500, inDebug: 100)
        try await RouteServer.run { server in
            let logins = OrderRecorder<Int>()
            let answers = OrderRecorder<Int>()
            await server.route("POST /login") { _ in
                logins.record(1)
                return HTTPResponse(statusCode: .ok, body: Data("new".utf8))
            }
            await server.route("GET /books") { request in
                let isKnown = request.headers[.authorization] == "Bearer new"
                answers.record(isKnown ? 200 : 401)
                return HTTPResponse(statusCode: isKnown ? .ok : .unauthorized, body: Data("books".utf8))
            }
            let transport = kind.make()
            let login = client(of: server.url(), transport)
            let policies = ClientPolicies(
                authenticator: .bearer(initial: "old") { _ in
                    try await login.request(Text(path: "login", method: "POST"))
                }
            )
            let client = client(of: server.url(), transport, policies)
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<count { group.addTask { try await client.request(Text(path: "books")) } }
                for try await text in group { #expect(text == "books") }
            }
            #expect(logins.count == 1)
            #expect(answers.events.count { $0 == 200 } == count)
        }
    }

    @Test(arguments: TransportUnderTest.allCases, ["0", "Sun, 06 Nov 1994 08:49:37 GMT"])
    func aServerThatIsBusyIsAskedAgain(_ kind: TransportUnderTest, _ hint: String) async throws {
        let replies = Locked([429, 503, 200])
        let server = try RawServer { connection, _ in
            try connection.respond(
                replies.withLock { $0.removeFirst() },
                [("Retry-After", hint)],
                body: Array("there".utf8)
            )
        }
        let policies = ClientPolicies(retry: HTTPRetryPolicy(backoff: .none))
        let client = client(of: server.url(), kind.make(), policies)
        #expect(try await client.request(Text()) == "there")
        #expect(server.log.now.requests.count == 3)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aConnectionThatBreaksIsTriedAgain(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in
            if connection.number == 1 { return connection.close() }
            try connection.respond(body: Array("there".utf8))
        }
        let policies = ClientPolicies(retry: HTTPRetryPolicy(backoff: .none))
        #expect(try await client(of: server.url(), kind.make(), policies).request(Text()) == "there")
    }

    @Test(arguments: TransportUnderTest.allCases, [true, false])
    func theServerSeesThatTheCallerHasGone(_ kind: TransportUnderTest, byProgress: Bool) async throws {
        let server = try RawServer { connection, _ in connection.waitUntilClosed() }
        let client = client(of: server.url(), kind.make())
        if byProgress {
            let results = OrderRecorder<Bool>()
            let progress = client.request(Text()) { result in
                if case .failure(is CancellationError) = result { results.record(true) } else { results.record(false) }
            }
            try await server.log.wait { $0.requests.count == 1 }
            progress.cancel()
            try await results.waitForEvents(count: 1)
            #expect(results.events == [true])
        } else {
            let caller = Task { try await client.request(Text()) }
            try await server.log.wait { $0.requests.count == 1 }
            caller.cancel()
            await #expect(throws: CancellationError.self) { try await caller.value }
        }
        try await server.log.wait { $0.live == 0 }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aLimitEndsTheExchange(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in connection.waitUntilClosed() }
        let clock = TestClock()
        let client = client(of: server.url(), kind.make(), ClientPolicies(timeout: .seconds(30), clock: clock))
        let caller = Task { try await client.request(Text()) }
        try await server.log.wait { $0.requests.count == 1 }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(30))
        await #expect(throws: TimeoutError.self) { try await caller.value }
        try await server.log.wait { $0.live == 0 }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aFileIsUploadedAndDownloadedWithProgress(_ kind: TransportUnderTest) async throws {
        let size = 1_000_000
        let file = try Pattern.file(size)
        let copy = file.appendingPathExtension("copy")
        defer {
            try? FileManager.default.removeItem(at: file)
            try? FileManager.default.removeItem(at: copy)
        }
        let server = try RawServer { connection, request in
            var check = Pattern.Check()
            try connection.readBody(of: request) { check.add($0) }
            if request.method == "PUT" {
                try connection.respond(body: Array("\(check.count) \(check.isRight)".utf8))
            } else {
                try connection.respond(body: Array(Pattern.data(size)))
            }
        }
        let client = client(of: server.url(), kind.make())
        let told = OrderRecorder<TransferProgress>()
        let answer = try await client.upload(Upload(body: .file(file)), onProgress: { told.record($0) })
        #expect(answer == "1000000 true")
        #expect(told.events.map(\.sent).max() == Int64(size))
        #expect(told.events.map(\.sent) == told.events.map(\.sent).sorted())
        #expect(told.events.contains { $0.fractionSent == 1 })

        let progress = OrderRecorder<TransferProgress>()
        try await client.download(Text(), to: copy, onProgress: { progress.record($0) })
        #expect(try Data(contentsOf: copy) == Pattern.data(size))
        #expect(progress.events.last?.received == Int64(size))
        #expect(progress.events.last?.fractionReceived == 1)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func whatTheAuthenticatorAttachedDoesNotLeaveItsOrigin(_ kind: TransportUnderTest) async throws {
        let foreign = Locked("")
        // A name that a redirect would keep otherwise.
        let header = "X-Mine"
        let server = try RawServer { connection, request in
            if request.target == "/text" {
                try connection.respond(302, [("Location", foreign.withLock { $0 })])
            } else {
                try connection.respond(body: Array((request[header] ?? "no key").utf8))
            }
        }
        let authenticator = EndpointAuthenticator(initial: "hush") { key, request in
            request.setValue(key, forHTTPHeaderField: header)
        } refresh: { _ in
            "hush"
        }
        let client = client(of: server.url(), kind.make(), ClientPolicies(authenticator: authenticator))
        foreign.withLock { $0 = server.foreignURL("away").absoluteString }
        let away = try await client.request(Text())
        #expect(away == "no key")
        #expect(server.log.now.requests.map(\.target) == ["/text", "/away"])
        foreign.withLock { $0 = server.url("here").absoluteString }
        let here = try await client.request(Text())
        #expect(here == "hush")
    }

    @Test func theConnectionsOfAClientThatHasGoneAreClosed() async throws {
        let server = try RawServer { connection, _ in try connection.respond(body: Array("there".utf8)) }
        do {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 3_600
            let client = EndpointClient(
                baseURL: server.url(),
                transport: URLSessionTransport(configuration: configuration)
            )
            #expect(try await client.request(Text()) == "there")
            #expect(server.log.now.live == 1)
        }
        try await server.log.wait { $0.live == 0 }
    }

    private func client(
        of url: URL,
        _ transport: any HTTPTransport,
        _ policies: ClientPolicies = ClientPolicies()
    ) -> EndpointClient {
        EndpointClient(
            requestAdapter: BaseURLAdapter(baseURL: url),
            transport: transport,
            policies: policies,
            completionQueue: DispatchQueue(label: "completion")
        )
    }
}
