import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct CoalescingTests {
    private let policies = ClientPolicies(coalescesGETRequests: true)

    @Test func requestsThatAreAlikeShareOneExchange() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _ in
            try await gate.wait()
            return .ok("there")
        }
        let observed = OrderRecorder<Int>()
        let asked = OrderRecorder<Int>()
        let client = EndpointClient(
            requestAdapter: Counting(asked: asked),
            transport: transport,
            policies: policies,
            responseObserver: { _, response, _, _ in observed.record(response?.statusCode ?? 0) }
        )
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<10 { group.addTask { try await client.request(Text()) } }
            try await gate.waitForWaiters()
            try await asked.waitForEvents(count: 10)
            group.addTask {
                gate.open()
                return "there"
            }
            for try await text in group { #expect(text == "there") }
        }
        #expect(observed.events == Array(repeating: 200, count: 10))
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func theSecondCallerOfAnExchangeSendsNothing() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _ in
            try await gate.wait()
            return .ok("there")
        }
        let client = EndpointClient(transport, policies: policies)
        let first = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        // Runs up to its wait before the test continues.
        let second = Task.immediate { try await client.request(Text()) }
        gate.open()
        #expect(try await first.value == "there")
        #expect(try await second.value == "there")
        #expect(transport.sent.count == 1)
    }

    @Test func whatDiffersIsNotShared() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _ in
            try await gate.wait()
            return .ok("there")
        }
        let client = EndpointClient(transport, policies: policies)
        let calls = [
            Text(), Text(path: "text?a=b"), Text(headers: ["Accept": "x"]), Text(method: "POST"), Text(method: "POST"),
            Text(method: "PUT"),
        ].map { endpoint in Task { try await client.request(endpoint) } }
        try await gate.waitForWaiters(count: 6)
        gate.open()
        for call in calls { #expect(try await call.value == "there") }
        #expect(transport.sent.count == 6)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aFailureIsEverybodysWithAllThatArrived() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _ in
            try await gate.wait()
            return ScriptedTransport.Reply(chunks: [Data("the".utf8)], failure: URLError(.networkConnectionLost))
        }
        let observed = OrderRecorder<Data?>()
        let client = EndpointClient(transport, policies: policies, observer: { _, _, data, _ in observed.record(data) })
        let first = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        let second = Task.immediate { try await client.request(Text()) }
        gate.open()
        for call in [first, second] {
            let error = await #expect(throws: EndpointError.self) { try await call.value }
            #expect(error?.reason == .transport)
        }
        #expect(observed.events == [Data("the".utf8), Data("the".utf8)])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func oneWhoLeavesDoesNotEndTheExchange() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _ in
            try await gate.wait()
            return .ok("there")
        }
        let client = EndpointClient(transport, policies: policies)
        let first = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        let second = Task.immediate { try await client.request(Text()) }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value == "there")
        #expect(transport.sent.count == 1)
    }

    @Test func progressIsTheExchangesEnd() async throws {
        let told = OrderRecorder<Int64>()
        let client = EndpointClient(ScriptedTransport(.ok("there")), policies: policies)
        _ = try await client.request(Text()) { told.record($0.received) }
        #expect(told.events.last == 5)
    }

    private struct Counting: URLRequestAdapter {
        let asked: OrderRecorder<Int>

        func adapt(_ request: URLRequest) throws -> URLRequest {
            asked.record(0)
            return try BaseURLAdapter(baseURL: URL(string: "http://h")!).adapt(request)
        }
    }
}
