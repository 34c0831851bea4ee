import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct EndpointAuthenticatorTests {
    /// A server that knows one good token.
    private static func server(good: String) -> ScriptedTransport {
        ScriptedTransport { sent in sent.authorization == "Bearer \(good)" ? .ok("in") : .status(401, "out") }
    }

    @Test func aRefreshNeedNotTakeTheRejectedToken() async throws {
        let transport = ScriptedTransport { sent in sent.authorization == "Bearer new" ? .ok("in") : .status(401) }
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(authenticator: .bearer(initial: "old") { "new" })
        )
        #expect(try await client.request(Text()) == "in")
    }

    /// The time of the refresh is virtual. By default it has 30 seconds.
    @Test(.enabled(if: Simulation.isSupported), arguments: [nil, Duration.seconds(5)])
    func aRefreshThatHangsEndsAtItsLimitForAllRequestsThatWaitForIt(_ limit: Duration?) async throws {
        try await offThePool {
            try simulate(seeds: 0..<2) { sim in
                let begun = OrderRecorder<Int>()
                @Sendable func refresh() async throws -> String {
                    begun.record(1)
                    if begun.count == 1 { try await Task.sleep(for: .seconds(3_600)) }
                    return "new"
                }
                let authenticator =
                    if let limit {
                        EndpointAuthenticator.bearer(refreshTimeout: limit) { try await refresh() }
                    } else {
                        EndpointAuthenticator.bearer { try await refresh() }
                    }
                let client = EndpointClient(
                    ScriptedTransport(.ok("in")),
                    policies: ClientPolicies(authenticator: authenticator, retry: HTTPRetryPolicy())
                )
                let expected = TimeoutError(duration: limit ?? .seconds(30))
                await withTaskGroup { group in
                    for _ in 0..<3 {
                        group.addTask { await #expect(throws: expected) { try await client.request(Text()) } }
                    }
                }
                sim.expect(begun.count == 1, "they share the refresh")
                sim.expect(try await client.request(Text()) == "in", "the next request begins another")
            }
        }
    }

    /// The server may have replaced the old one.
    @Test func aCredentialThatComesAtTheLimitOfItsRefreshIsUsedByTheNextRequest() async throws {
        let (clock, login, logins) = (TestClock(), Gate(), OrderRecorder<Int>())
        let authenticator = EndpointAuthenticator.bearer(refreshTimeout: .seconds(1), clock: clock) {
            logins.record(1)
            await login.waitIgnoringCancellation()
            return "a"
        }
        let client = EndpointClient(Self.server(good: "a"), policies: ClientPolicies(authenticator: authenticator))
        let call = Task { try await client.request(Text()) }
        try await login.waitForWaiters()
        await clock.advance(by: .seconds(1), waking: 1)
        login.open()
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(try await client.request(Text()) == "in")
        #expect(logins.count == 1)
    }

    @Test func aTokenIsAttached() async throws {
        let transport = Self.server(good: "a")
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(authenticator: .bearer(initial: "a") { _ in throw Mishap() })
        )
        #expect(try await client.request(Text()) == "in")
        #expect(transport.sent.count == 1)
    }

    @Test func withoutATokenTheFirstRequestGetsOneBeforeItIsSent() async throws {
        let transport = Self.server(good: "a")
        let rejected = OrderRecorder<String?>()
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(
                authenticator: .bearer {
                    rejected.record($0)
                    return "a"
                }
            )
        )
        #expect(try await client.request(Text()) == "in")
        #expect(transport.sent.count == 1)
        #expect(rejected.events == [nil])
    }

    @Test func anEmptyInitialTokenIsNone() async throws {
        let transport = Self.server(good: "a")
        let rejected = OrderRecorder<String?>()
        let authenticator = EndpointAuthenticator.bearer(initial: "") {
            rejected.record($0)
            return "a"
        }
        let client = EndpointClient(transport, policies: ClientPolicies(authenticator: authenticator))
        #expect(try await client.request(Text()) == "in")
        #expect(transport.sent.count == 1)
        #expect(rejected.events == [nil])
    }

    @Test func anEmptyTokenIsNotSent() async throws {
        let transport = Self.server(good: "")
        let client = EndpointClient(transport, policies: ClientPolicies(authenticator: .bearer { "" }))
        let error = await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(error?.reason == .request)
        #expect(transport.sent.count == 0)
    }

    @Test func fiveHundredRequestsOverAnExpiredTokenMakeOneRefresh() async throws {
        let transport = Self.server(good: "new")
        let rejected = OrderRecorder<String?>()
        let allAreOut = Gate()
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(
                authenticator: .bearer(initial: "old") {
                    rejected.record($0)
                    try await allAreOut.wait()
                    return "new"
                }
            )
        )
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<500 { group.addTask { try await client.request(Text()) } }
            // A request that begins when the token is known to be bad waits for the new one and is sent once.
            try await rejected.waitForEvents(count: 1)
            allAreOut.open()
            for try await text in group { #expect(text == "in") }
        }
        #expect(rejected.events == ["old"])
        let sent = transport.sent.events.map(\.authorization)
        #expect(sent.count { $0 == "Bearer new" } == 500)
    }

    @Test func aRequestWithAnOlderTokenThanTheCurrentOneJustRetries() async throws {
        let slow = Gate()
        let transport = ScriptedTransport { sent in
            if sent.url.hasSuffix("slow"), sent.authorization == "Bearer old" { try await slow.wait() }
            return sent.authorization == "Bearer new" ? .ok("in") : .status(401)
        }
        let refreshes = OrderRecorder<String?>()
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(
                authenticator: .bearer(initial: "old") {
                    refreshes.record($0)
                    return "new"
                }
            )
        )
        async let late = client.request(Text(path: "slow"))
        try await slow.waitForWaiters()
        #expect(try await client.request(Text()) == "in")
        slow.open()
        #expect(try await late == "in")
        #expect(refreshes.events == ["old"])
    }

    @Test func aRefreshThatFailsFailsAllAndTheNextRequestTriesAgain() async throws {
        let transport = Self.server(good: "new")
        let mayFail = Gate()
        let attempts = OrderRecorder<Int>()
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(
                authenticator: .bearer(initial: "old") { _ in
                    attempts.record(attempts.count)
                    if attempts.count > 1 { return "new" }
                    try await mayFail.wait()
                    throw Mishap(name: "no refresh")
                }
            )
        )
        await withTaskGroup(of: Result<String, any Error>.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do { return .success(try await client.request(Text())) } catch { return .failure(error) }
                }
            }
            // All twenty have been sent and rejected, or wait for the refresh before they are sent: it fails when all have had their say.
            try? await transport.sent.waitForEvents(count: 1)
            try? await mayFail.waitForWaiters()
            mayFail.open()
            for await result in group {
                switch result {
                case .success(let text): #expect(text == "in", "came after the refresh that failed")
                case .failure(let error): #expect(error as? Mishap == Mishap(name: "no refresh"))
                }
            }
        }
        #expect(try await client.request(Text()) == "in")
        #expect(attempts.count == 2)
    }

    @Test func aTokenThatIsRejectedTwiceDoesNotLoop() async throws {
        let transport = Self.server(good: "never")
        let refreshes = OrderRecorder<String?>()
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(
                authenticator: .bearer(initial: "old") {
                    refreshes.record($0)
                    return "new"
                },
                retry: HTTPRetryPolicy()
            )
        )
        let error = await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(error?.reason == .unauthorized)
        #expect(error?.statusCode == 401)
        #expect(error?.bodyPrefix == "out")
        #expect(transport.sent.count == 2)
        #expect(refreshes.events == ["old"])
    }

    @Test func theEndpointHasItsOwnWordsForARejection() async throws {
        let client = EndpointClient(
            Self.server(good: "never"),
            policies: ClientPolicies(authenticator: .bearer { _ in "bad" })
        )
        struct Worded: Endpoint {
            typealias Content = String
            func makeRequest() throws -> URLRequest { URLRequest(url: URL(string: "worded")!) }
            func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws {
                if response.statusCode == 401 { throw Mishap(name: "sign in again") }
            }
        }
        await #expect(throws: Mishap(name: "sign in again")) { try await client.request(Worded()) }
        let error = await #expect(throws: EndpointError.self) { try await client.request(Checked()) }
        #expect(error?.reason == .unauthorized)
    }

    @Test func aRejectionByAnotherServerIsAnAnswerLikeOthers() async throws {
        // It has not seen the credential.
        let transport = ScriptedTransport(ScriptedTransport.Reply(url: URL(string: "http://elsewhere/"), status: 401))
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(authenticator: .bearer(initial: "a") { _ in throw Mishap() })
        )
        let error = await #expect(throws: EndpointError.self) { try await client.request(Checked()) }
        #expect(error?.reason == .status)
        #expect(try await client.request(Text()) == "")
        #expect(transport.sent.count == 2)
    }

    /// A credential that says where to send it: no redirect has led there.
    @Test func aRejectionByTheServerThatTheCredentialNamesIsOne() async throws {
        let transport = Self.server(good: "new")
        let authenticator = EndpointAuthenticator(initial: "old") { token, request in
            request.url = URL(string: "https://instance.test/")
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        } refresh: { _ in
            "new"
        }
        let client = EndpointClient(transport, policies: ClientPolicies(authenticator: authenticator))
        #expect(try await client.request(Text()) == "in")
        #expect(transport.sent.count == 2)
    }

    @Test func aRejectionOfASharedExchangeIsOne() async throws {
        let transport = Self.server(good: "new")
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(authenticator: .bearer(initial: "old") { _ in "new" }, coalescesGETRequests: true)
        )
        #expect(try await client.request(Checked()) == "in")
        #expect(transport.sent.count == 2)
    }

    @Test func severalClientsShareOneRefresh() async throws {
        let transport = Self.server(good: "new")
        let rejected = OrderRecorder<String?>()
        let policies = ClientPolicies(
            authenticator: .bearer(initial: "old") {
                rejected.record($0)
                return "new"
            }
        )
        for _ in 0..<3 { #expect(try await EndpointClient(transport, policies: policies).request(Text()) == "in") }
        #expect(rejected.events == ["old"])
        #expect(transport.sent.count == 4)
    }

    @Test func aCallerThatLeavesDoesNotTakeTheRefreshAlong() async throws {
        let transport = Self.server(good: "new")
        let refreshing = Gate()
        let wasCancelled = OrderRecorder<Bool>()
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(
                authenticator: .bearer(initial: "old") { _ in
                    await refreshing.waitIgnoringCancellation()
                    wasCancelled.record(Task.isCancelled)
                    return "new"
                }
            )
        )
        let caller = Task { try await client.request(Text()) }
        try await refreshing.waitForWaiters()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        refreshing.open()
        #expect(try await client.request(Text()) == "in")
        #expect(wasCancelled.events == [false])
        #expect(transport.sent.events.map(\.authorization) == ["Bearer old", "Bearer new"])
    }

    @Test func aRefreshByTheClientItselfSaysThatItWouldWaitForItself() async throws {
        let client = Locked<EndpointClient?>(nil)
        let made = EndpointClient(
            Self.server(good: "new"),
            policies: ClientPolicies(
                authenticator: .bearer { _ in try await client.withLock { $0! }.request(Text(path: "login")) }
            )
        )
        client.withLock { $0 = made }
        let error = await #expect(throws: EndpointError.self) { try await made.request(Text()) }
        #expect(error?.description.contains("use one without it") == true)
        client.withLock { $0 = nil }
    }

    @Test func whatIsForgottenIsFetchedAnew() async throws {
        let transport = ScriptedTransport(.ok("in"))
        let authenticator = EndpointAuthenticator.bearer(initial: "ann") { _ in "ben" }
        let client = EndpointClient(transport, policies: ClientPolicies(authenticator: authenticator))
        _ = try await client.request(Text())
        authenticator.forget()
        _ = try await client.request(Text())
        #expect(transport.sent.events.map(\.authorization) == ["Bearer ann", "Bearer ben"])
    }

    @Test func anUploadIsSentAgainWithTheNewTokenIfItCanBe() async throws {
        let transport = Self.server(good: "new")
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(authenticator: .bearer(initial: "old") { _ in "new" })
        )
        let data = Data("body".utf8)
        #expect(try await client.upload(Upload(body: .stream(length: 4) { InputStream(data: data) })) == "in")
        #expect(transport.sent.events.map(\.body) == [data, data])
    }

    @Test func whatCanBeSentOnceHasHadItsAnswer() async throws {
        let transport = Self.server(good: "new")
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(authenticator: .bearer(initial: "old") { _ in "new" })
        )
        let error = await #expect(throws: EndpointError.self) {
            try await client.upload(Upload(body: .stream(InputStream(data: Data("body".utf8)))))
        }
        #expect(error?.reason == .unauthorized)
        #expect(error?.statusCode == 401)
    }

    @Test func aBodyThatEchoesTheTokenDoesNotShowIt() async throws {
        let token = "abcdefgh-ijklmnop-qrstuvwx"
        let bodies = [
            "your token \(token) is bad", #"{"message": "\#(token)"}"#,
            String(repeating: "x", count: 500) + token,
        ]
        for body in bodies {
            let client = EndpointClient(
                ScriptedTransport(.status(403, body)),
                policies: ClientPolicies(
                    authenticator: EndpointAuthenticator(initial: token) { key, request in
                        request.setValue(key, forHTTPHeaderField: "X-Mine")
                    } refresh: { _ in
                        token
                    }
                )
            )
            let error = await #expect(throws: EndpointError.self) { try await client.request(Checked()) }
            #expect(error?.bodyPrefix?.contains("abcdefgh") == false)
        }
    }

    @Test func aStreamOfTheRequestsOwnIsSentOnce() async throws {
        struct Streamed: Endpoint {
            typealias Content = String
            func makeRequest() throws -> URLRequest {
                var request = URLRequest(url: URL(string: "streamed")!)
                request.httpMethod = "PUT"
                request.httpBodyStream = InputStream(data: Data("body".utf8))
                return request
            }
        }
        let transport = Self.server(good: "new")
        let policies = ClientPolicies(authenticator: .bearer(initial: "old") { _ in "new" }, retry: HTTPRetryPolicy())
        let client = EndpointClient(transport, policies: policies)
        let error = await #expect(throws: EndpointError.self) { try await client.request(Streamed()) }
        #expect(error?.statusCode == 401)
        #expect(transport.sent.events.map(\.body) == [Data("body".utf8)])
        // The rejection is not forgotten: the next request has the new token.
        #expect(try await client.request(Text()) == "in")
        #expect(transport.sent.events.last?.authorization == "Bearer new")
    }

    @Test func neitherObserversNorEndpointsSeeTheToken() async throws {
        let seen = OrderRecorder<[String: String]>()
        let client = EndpointClient(
            Self.server(good: "a"),
            policies: ClientPolicies(authenticator: .bearer(initial: "a") { _ in "a" }),
            observer: { request, _, _, _ in seen.record(request?.allHTTPHeaderFields ?? [:]) }
        )
        _ = try await client.request(Text(headers: ["X": "y"]))
        #expect(seen.events == [["X": "y"]])
    }

    /// As a file has it that an editor wrote: Foundation drops such a header without an error.
    @Test(arguments: ["hush\n", "hu\r\nsh", "hush\u{0}"])
    func aTokenThatCannotBeAHeaderIsAnError(_ token: String) async throws {
        let refreshes = OrderRecorder<Int>()
        let own: @Sendable (String, inout URLRequest) -> Void = { $1.setValue($0, forHTTPHeaderField: "X-Mine") }
        for authenticator in [
            EndpointAuthenticator.bearer(initial: token) { _ in refreshed() },
            .bearer { _ in token },
            EndpointAuthenticator(initial: token, attach: own) { _ in refreshed() },
            EndpointAuthenticator(attach: own) { _ in token },
        ] {
            let transport = ScriptedTransport(.status(401))
            let policies = ClientPolicies(authenticator: authenticator, retry: HTTPRetryPolicy(backoff: .none))
            let error = await #expect(throws: EndpointError.self) {
                try await EndpointClient(transport, policies: policies).request(Text())
            }
            #expect(error?.reason == .request)
            #expect(error.map { "\($0)".contains("hu") } == false)
            #expect(transport.sent.count == 0)
        }
        #expect(refreshes.count == 0)

        @Sendable func refreshed() -> String {
            refreshes.record(0)
            return "good"
        }
    }

    @Test func whatAttachThrowsArrivesAsItIs() async throws {
        let transport = ScriptedTransport(.ok("in"))
        let authenticator = EndpointAuthenticator(initial: "a") { _, _ in
            throw Mishap()
        } refresh: { _ in
            "a"
        }
        let client = EndpointClient(transport, policies: ClientPolicies(authenticator: authenticator))
        await #expect(throws: Mishap()) { try await client.request(Text()) }
        #expect(transport.sent.count == 0)
    }

    /// For a session that is in cookies.
    @Test func aCredentialOfNothingNeedNotBeAttached() async throws {
        let transport = ScriptedTransport(.status(401), .ok("in"))
        let refreshes = OrderRecorder<Int>()
        let authenticator = EndpointAuthenticator(initial: ()) { _, _ in
        } refresh: { _ in
            refreshes.record(0)
        }
        let client = EndpointClient(transport, policies: ClientPolicies(authenticator: authenticator))
        #expect(try await client.request(Text()) == "in")
        #expect(refreshes.count == 1)
    }
}
