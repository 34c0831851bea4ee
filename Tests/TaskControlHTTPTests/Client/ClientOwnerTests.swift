import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlResilience
import TaskControlTesting
import Testing

/// A client as the owner of its calls, over a scripted transport.
@Suite(.timeLimit(.minutes(15)))
struct ClientOwnerTests {
    private static let signedOut = CancellationCause.requested(reason: "signed out")

    /// A transport whose exchanges last until their task is cancelled or the gate is opened.
    private static func held(by gate: Gate) -> ScriptedTransport {
        ScriptedTransport { _ in
            try await gate.wait()
            return .ok("there")
        }
    }

    /// The ways in which a call waits for its exchange.
    enum Form: String, CaseIterable, Codable {
        case plain, limited, limitedAttempt, retried, coalesced, protected, upload, stream, download

        var policies: ClientPolicies {
            var policies = ClientPolicies()
            switch self {
            case .limited: policies.timeout = .seconds(3_600)
            case .limitedAttempt: policies.attemptTimeout = .seconds(3_600)
            case .retried: policies.retry = HTTPRetryPolicy(maxElapsed: .seconds(3_600))
            case .coalesced: policies.coalescesGETRequests = true
            case .protected: policies.resilience = .shared(.standard(name: "h"))
            case .plain, .upload, .stream, .download: break
            }
            return policies
        }

        func call(_ client: EndpointClient) async throws {
            switch self {
            case .upload: _ = try await client.upload(Upload(body: .data(Data("x".utf8))))
            case .stream: try await client.withResponse(to: Text()) { _ in }
            case .download:
                let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                defer { try? FileManager.default.removeItem(at: file) }
                _ = try await client.download(Text(), to: file)
            default: _ = try await client.request(Text())
            }
        }
    }

    @Test(arguments: Form.allCases)
    func aCallOfACancelledClientHasTheCauseAsItsError(_ form: Form) async throws {
        let gate = Gate()
        let client = EndpointClient(Self.held(by: gate), name: "books", policies: form.policies)
        let call = Task {
            let error = await thrown { try await form.call(client) }
            return (error, Task.isCancelled)
        }
        try await gate.waitForWaiters()
        #expect(client.count == 1 && !client.isEmpty)
        client.cancelAll(because: "signed out")
        #expect(client.count == 0)
        let (error, isCancelled) = await call.value
        #expect(error as? CancellationCause == Self.signedOut && !isCancelled)
        // The client is open.
        gate.open()
        try await form.call(client)
    }

    @Test(arguments: Form.allCases)
    func aClosedClientCancelsAndRefuses(_ form: Form) async throws {
        let gate = Gate()
        let transport = Self.held(by: gate)
        let client = EndpointClient(transport, name: "books", policies: form.policies)
        let call = Task { try await form.call(client) }
        try await gate.waitForWaiters()
        client.close()
        #expect(await thrown { try await call.value } as? CancellationCause == .shutdown(name: "books"))
        #expect(await thrown { try await form.call(client) } as? CancellationCause == .shutdown(name: "books"))
        #expect(transport.sent.count == 1)
    }

    @Test(arguments: Form.allCases)
    func aCallerThatIsCancelledTooReceivesCancellationError(_ form: Form) async throws {
        let gate = Gate()
        let client = EndpointClient(Self.held(by: gate), policies: form.policies)
        let call = Task { try await form.call(client) }
        try await gate.waitForWaiters()
        call.cancel()
        client.cancelAll()
        #expect(await thrown { try await call.value } is CancellationError)
    }

    @Test(arguments: Form.allCases)
    func aDrainWaitsForTheCalls(_ form: Form) async throws {
        let gate = Gate()
        let client = EndpointClient(Self.held(by: gate), policies: form.policies)
        let call = Task { try await form.call(client) }
        try await gate.waitForWaiters()
        let cancelled = Task { try await client.drain() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(client.count == 1)
        gate.open()
        try await client.drain()
        #expect(client.count == 0)
        try await call.value
    }

    @Test(arguments: Form.allCases)
    func aShutdownCutsOffAndNamesTheCalls(_ form: Form) async throws {
        let gate = Gate()
        let transport = ShutDownTransport(Self.held(by: gate))
        let client = EndpointClient(transport, name: "books", policies: form.policies)
        let call = Task { try await form.call(client) }
        try await gate.waitForWaiters()
        let names = await client.shutdown(grace: .zero).cancelled
        #expect(names == [form == .upload ? "PUT http://h/api/upload" : "GET http://h/api/text"])
        #expect(transport.log.events == ["begun", "ended", "shut down"])
        #expect(await thrown { try await call.value } as? CancellationCause == .shutdown(name: "books"))
        // Nothing is left to cut off.
        #expect(await client.shutdown(grace: .zero).isEmpty)
    }

    @Test func aCallThatEndsInTheGracePeriodIsNotCutOff() async throws {
        let (gate, clock) = (Gate(), TestClock())
        let transport = ShutDownTransport(Self.held(by: gate))
        let client = EndpointClient(transport)
        let call = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        let shutdown = Task { await client.shutdown(grace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        #expect(await thrown { try await client.request(Text()) } as? CancellationCause == .shutdown(name: nil))
        gate.open()
        #expect(await shutdown.value.isEmpty)
        #expect(try await call.value == "there")
        #expect(transport.log.events == ["begun", "ended", "shut down"])
    }

    @Test func aCallInTheGracePeriodIsRepeatedUnlessTheShutdownRefusesThat() async throws {
        for waiting in [WaitingWorkBehavior.run, .cancel] {
            let (sent, answer) = (Gate(), Gate())
            let replies = OrderRecorder<Int>()
            let transport = ScriptedTransport { _ in
                replies.record(0)
                guard replies.count == 1 else { return .ok("there") }
                sent.open()
                try await answer.wait()
                return .status(503, "busy")
            }
            let client = EndpointClient(transport, policies: ClientPolicies(retry: HTTPRetryPolicy(backoff: .none)))
            let call = Task { try await client.request(Text()) }
            try await sent.wait()
            let clock = TestClock()
            let shutdown = Task { await client.shutdown(grace: .seconds(5), waiting: waiting, clock: clock) }
            try await clock.waitForSleepers()
            answer.open()
            let error = await thrown { try await call.value } as? EndpointError
            #expect(error?.statusCode == (waiting == .run ? nil : 503))
            #expect(transport.sent.count == (waiting == .run ? 2 : 1))
            #expect(await shutdown.value.isEmpty)
        }
    }

    @Test func aShutdownThatRefusesAttemptsEndsADelay() async throws {
        let clock = TestClock()
        let transport = ScriptedTransport(.status(503, "busy"), .ok("there"))
        var policies = ClientPolicies(retry: HTTPRetryPolicy(backoff: .fixed(.seconds(1))))
        policies.clock = clock
        let client = EndpointClient(transport, policies: policies)
        let call = Task { try await client.request(Text()) }
        try await clock.waitForSleepers()
        let shutdown = Task { await client.shutdown(grace: .seconds(5), waiting: .cancel, clock: clock) }
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(1), waking: 1)
        #expect((await thrown { try await call.value } as? EndpointError)?.statusCode == 503)
        #expect(transport.sent.count == 1)
        #expect(await shutdown.value.isEmpty)
    }

    // MARK: Waits other than for the exchange

    @Test func aDelayBeforeAnAttemptEnds() async throws {
        let clock = TestClock()
        let transport = ScriptedTransport(.unreachable())
        var policies = ClientPolicies(retry: HTTPRetryPolicy(backoff: .fixed(.seconds(1))))
        policies.clock = clock
        let client = EndpointClient(transport, policies: policies)
        let call = Task { try await client.request(Text()) }
        try await clock.waitForSleepers()
        client.cancelAll(because: "signed out")
        #expect(await thrown { try await call.value } as? CancellationCause == Self.signedOut)
        #expect(transport.sent.count == 1)
    }

    @Test func aWaitForACredentialEndsAndTheRefreshContinues() async throws {
        let gate = Gate()
        let transport = ScriptedTransport(.ok("there"))
        let authenticator = EndpointAuthenticator.bearer {
            try await gate.wait()
            return "token"
        }
        let client = EndpointClient(transport, policies: ClientPolicies(authenticator: authenticator))
        let call = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        client.cancelAll(because: "signed out")
        #expect(await thrown { try await call.value } as? CancellationCause == Self.signedOut)
        #expect(transport.sent.count == 0)
        gate.open()
        #expect(try await client.request(Text()) == "there")
        #expect(transport.sent.events.map(\.authorization) == ["Bearer token"])
    }

    @Test func aWaitForAPermitEnds() async throws {
        let (gate, asked) = (Gate(), OrderRecorder<Int>())
        let transport = Self.held(by: gate)
        let client = EndpointClient(
            requestAdapter: Counting(asked: asked),
            transport: transport,
            policies: ClientPolicies(resilience: .shared(HostPolicy(permits: AsyncSemaphore(value: 1))))
        )
        let calls = (0..<2).map { _ in Task { try await client.request(Text()) } }
        try await gate.waitForWaiters()
        try await asked.waitForEvents(count: 2)
        client.cancelAll(because: "signed out")
        for call in calls {
            #expect(await thrown { try await call.value } as? CancellationCause == Self.signedOut)
        }
        #expect(transport.sent.count == 1)
    }

    @Test func allCallersOfASharedExchangeEnd() async throws {
        let (gate, asked) = (Gate(), OrderRecorder<Int>())
        let transport = ShutDownTransport(Self.held(by: gate))
        let client = EndpointClient(
            requestAdapter: Counting(asked: asked),
            transport: transport,
            policies: ClientPolicies(coalescesGETRequests: true)
        )
        let calls = (0..<3).map { _ in Task { try await client.request(Text()) } }
        try await asked.waitForEvents(count: 3)
        try await gate.waitForWaiters()
        _ = await client.shutdown(grace: .zero)
        for call in calls {
            #expect(await thrown { try await call.value } as? CancellationCause == .shutdown(name: nil))
        }
        // The exchange itself has ended too.
        #expect(transport.log.events.last == "shut down")
        #expect(
            transport.log.events.filter { $0 == "begun" }.count == transport.log.events.filter { $0 == "ended" }.count
        )
    }

    @Test func aCallThatIsCancelledBeforeItsSharedExchangeSendsNothing() async throws {
        let canceller = Canceller()
        let transport = CookieTransport(asked: canceller.cancel)
        let client = EndpointClient(transport, policies: ClientPolicies(coalescesGETRequests: true))
        canceller.set { client.cancelAll(because: "signed out") }
        #expect(await thrown { try await client.request(Text()) } as? CancellationCause == Self.signedOut)
        #expect(transport.other.sent.count == 0)
        canceller.set {}
    }

    private struct CookieTransport: HTTPTransport {
        let other = ScriptedTransport(.ok("there"))
        let asked: @Sendable () -> Void

        func withResponse<Value>(
            to request: HTTPTransportRequest,
            _ receive: (HTTPTransportResponse) async throws -> Value
        ) async throws -> Value {
            try await other.withResponse(to: request, receive)
        }

        func cookies(for request: URLRequest) -> String? {
            asked()
            return nil
        }
    }

    private struct Counting: URLRequestAdapter {
        let asked: OrderRecorder<Int>

        func adapt(_ request: URLRequest) throws -> URLRequest {
            asked.record(0)
            return try BaseURLAdapter(baseURL: URL(string: "http://h")!).adapt(request)
        }
    }

    // MARK: What else learns of the cancellation

    @Test @MainActor func theCodeThatReadsAStreamIsCancelledWithTheCause() async throws {
        let (client, reading) = (EndpointClient(ScriptedTransport(.ok("there"))), Gate())
        let call = Task {
            try await client.withResponse(to: Text()) { _ in
                MainActor.assertIsolated()
                reading.open()
                try? await Gate().wait()
                MainActor.assertIsolated()
                #expect(Task.cancellationCause == Self.signedOut)
                throw Mishap()
            }
        }
        try await reading.wait()
        client.cancelAll(because: "signed out")
        #expect(await thrown { try await call.value } as? CancellationCause == Self.signedOut)
    }

    @Test func theObserverReceivesTheCauseAndNoBreakerCountsIt() async throws {
        let gate = Gate()
        let errors = OrderRecorder<String>()
        let breaker = CircuitBreaker(failureThreshold: 0.01, minimumCalls: 1)
        let client = EndpointClient(
            Self.held(by: gate),
            policies: ClientPolicies(resilience: .shared(HostPolicy(breaker: breaker))),
            observer: { _, _, _, error in errors.record("\(error as? CancellationCause ?? .unknown)") }
        )
        let call = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        client.cancelAll(because: "signed out")
        #expect(await thrown { try await call.value } as? CancellationCause == Self.signedOut)
        #expect(errors.events == ["requested: signed out"])
        #expect(breaker.state == .closed)
    }

    @Test func aCompletionHandlerReceivesTheCause() async throws {
        let gate = Gate()
        let client = EndpointClient(Self.held(by: gate), completionQueue: .global())
        let error = await withCheckedContinuation { continuation in
            client.request(Text()) { result in
                continuation.resume(returning: result)
            }
            Task {
                try await gate.waitForWaiters()
                client.cancelAll(because: "signed out")
            }
        }
        #expect(throws: Self.signedOut) { try error.get() }
    }

    @Test func aResponseThatHasArrivedCounts() async throws {
        let (decoding, cancelled) = (Gate(), DispatchSemaphore(value: 0))
        let client = EndpointClient(ScriptedTransport(.ok("there")))
        let call = Task { try await client.request(Slow(decoding: decoding, cancelled: cancelled)) }
        try await decoding.wait()
        client.cancelAll()
        cancelled.signal()
        #expect(try await call.value == 5)
    }

    private struct Slow: Endpoint {
        let decoding: Gate
        let cancelled: DispatchSemaphore

        func makeRequest() throws -> URLRequest { get("slow") }

        func content(from response: URLResponse?, with body: Data) -> Int {
            decoding.open()
            cancelled.wait()
            return body.count
        }
    }

    // MARK: Schedules

    /// Calls, a cancellation and a shutdown at the same time: each call has its value or its cause, and none outlives the
    /// shutdown.
    @Test func noCallOutlivesTheShutdownOfItsClient() throws {
        try simulate(seeds: 0..<40) { sim in
            let running = Locked(0)
            let transport = ShutDownTransport(
                ScriptedTransport { _ in
                    running.withLock { $0 += 1 }
                    defer { running.withLock { $0 -= 1 } }
                    try await Task.sleep(for: .seconds(1))
                    return .ok("there")
                }
            )
            let policies = [Form.plain, .limited, .coalesced, .protected].map(\.policies)
            var random = sim.random
            let grace = [Duration.zero, .milliseconds(500), .seconds(2)].randomElement(using: &random)!
            let client = EndpointClient(transport, policies: policies.randomElement(using: &random)!)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        do {
                            let text = try await client.request(Text())
                            sim.expect(text == "there")
                        } catch {
                            sim.expect(error is CancellationCause)
                        }
                    }
                }
                group.addTask {
                    client.cancelAll(because: "signed out")
                    // A later call shares no exchange of the cancelled ones.
                    let error = await thrown { try await client.request(Text()) }
                    sim.expect(error == nil || error as? CancellationCause == .shutdown(name: nil))
                }
                group.addTask {
                    await client.shutdown(grace: grace)
                    sim.expect(running.withLock(\.self) == 0 && client.count == 0)
                    sim.expect(transport.log.events.last == "shut down")
                }
            }
        }
    }
}

/// A transport that records the exchanges of another one, and its shutdown.
private final class ShutDownTransport: HTTPTransport {
    let log = OrderRecorder<String>()
    private let other: any HTTPTransport

    init(_ other: any HTTPTransport) { self.other = other }

    func withResponse<Value>(
        to request: HTTPTransportRequest,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        log.record("begun")
        defer { log.record("ended") }
        return try await other.withResponse(to: request, receive)
    }

    func shutdown() async { log.record("shut down") }
}
