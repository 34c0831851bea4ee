import Dispatch
import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct CompletionHandlerTests {
    private static let key = DispatchSpecificKey<Int>()
    private let queue: DispatchQueue

    init() {
        queue = DispatchQueue(label: "completion")
        queue.setSpecific(key: Self.key, value: 1)
    }

    @Test func aHandlerIsCalledOnceOnItsQueueAndNeverSynchronously() async throws {
        let client = EndpointClient(ScriptedTransport(.ok("a")), completionQueue: queue)
        let calls = OrderRecorder<String>()
        // Nothing can be called on the queue while this holds it.
        let progress = queue.sync {
            let progress = client.request(Text()) { result in
                calls.record("\((try? result.get()) ?? "–") on \(DispatchQueue.getSpecific(key: Self.key) ?? 0)")
            }
            #expect(calls.count == 0)
            return progress
        }
        try await calls.waitForEvents(count: 1)
        #expect(progress.isFinished)
        queue.sync {}
        #expect(calls.events == ["a on 1"])
    }

    @Test func anUploadHasAHandlerToo() async throws {
        let client = EndpointClient(ScriptedTransport(.ok("thanks")), completionQueue: queue)
        let results = OrderRecorder<String>()
        let progress = client.upload(Upload(body: .data(Data("four".utf8)))) { results.record((try? $0.get()) ?? "–") }
        try await results.waitForEvents(count: 1)
        #expect(results.events == ["thanks"])
        #expect((progress.completedUnitCount, progress.totalUnitCount) == (4, 4))
    }

    @Test func cancellingTheProgressCancelsTheRequest() async throws {
        let gate = Gate()
        let client = EndpointClient(
            ScriptedTransport { _ in
                try await gate.wait()
                return .ok("")
            },
            completionQueue: queue
        )
        let errors = OrderRecorder<Bool>()
        let progress = client.request(Text()) { result in
            if case .failure(let error) = result {
                errors.record(error is CancellationError)
            } else {
                errors.record(false)
            }
        }
        try await gate.waitForWaiters()
        progress.cancel()
        try await errors.waitForEvents(count: 1)
        #expect(errors.events == [true])
        #expect(progress.isFinished)
    }

    @Test func aRequestThatIsCancelledAtOnceStillCallsItsHandler() async throws {
        let client = EndpointClient(ScriptedTransport(.ok("a")), completionQueue: queue)
        for _ in 0..<100 {
            let results = OrderRecorder<Bool>()
            client.request(Text()) { result in
                switch result {
                case .success(let text): results.record(text == "a")
                case .failure(let error): results.record(error is CancellationError)
                }
            }.cancel()
            try await results.waitForEvents(count: 1)
            queue.sync {}
            #expect(results.events == [true])
        }
    }

    @Test func aClientOfOnesOwnGetsTheHandlersForFree() async throws {
        struct Canned: APIClient {
            let completionQueue: DispatchQueue
            func request<E: Endpoint>(_ endpoint: E, onProgress: (@Sendable (TransferProgress) -> Void)?)
                async throws -> E.Content
            { try endpoint.content(from: nil, with: Data("canned".utf8)) }
            func upload<E: UploadEndpoint>(_ endpoint: E, onProgress: (@Sendable (TransferProgress) -> Void)?)
                async throws -> E.Content
            { throw Mishap() }
        }
        let client: any APIClient = Canned(completionQueue: queue)
        #expect(try await client.request(Text()) == "canned")
        #expect(try await client.get("text", as: String.self) == "canned")
        await #expect(throws: Mishap()) { try await client.upload(Upload(body: .data(Data()))) }
        let results = OrderRecorder<String>()
        client.request(Text()) { results.record((try? $0.get()) ?? "–") }
        try await results.waitForEvents(count: 1)
        client.upload(Upload(body: .data(Data()))) { results.record((try? $0.get()) ?? "–") }
        try await results.waitForEvents(count: 2)
        #expect(results.events == ["canned", "–"])
        let progress: Progress = client.request(Text()) { _ in }
        #expect(progress.totalUnitCount != 0)
    }

    @Test func aClientOfOnesOwnThatTellsHowFarItIsShowsThat() async throws {
        final class Telling: APIClient {
            let mayGo = Gate()
            func upload<E: UploadEndpoint>(_ endpoint: E, onProgress: (@Sendable (TransferProgress) -> Void)?)
                async throws -> E.Content
            { throw Mishap() }
            func request<E: Endpoint>(
                _ endpoint: E,
                onProgress: (@Sendable (TransferProgress) -> Void)?
            ) async throws -> E.Content {
                var progress = TransferProgress()
                (progress.received, progress.expectedToReceive) = (3, 6)
                onProgress?(progress)
                try await mayGo.wait()
                return try endpoint.content(from: nil, with: Data("told".utf8))
            }
            let completionQueue = DispatchQueue(label: "telling")
        }
        let client = Telling()
        let results = OrderRecorder<String>()
        let progress = client.request(Text(), completionHandler: { results.record((try? $0.get()) ?? "–") })
        try await client.mayGo.waitForWaiters()
        #expect((progress.completedUnitCount, progress.totalUnitCount) == (3, 6))
        client.mayGo.open()
        try await results.waitForEvents(count: 1)
        #expect(results.events == ["told"])
        #expect(progress.isFinished)
    }

    @Test func theClientLivesAsLongAsItsRequests() async throws {
        try await requireDeallocated {
            let gate = Gate()
            let results = OrderRecorder<String>()
            let client = EndpointClient(
                ScriptedTransport { _ in
                    try await gate.wait()
                    return .ok("late")
                },
                completionQueue: queue
            )
            // Only the request has the client while it is awaited.
            weak let released = client
            client.request(Text()) { results.record((try? $0.get()) ?? "–") }
            try await gate.waitForWaiters()
            gate.open()
            try await results.waitForEvents(count: 1)
            #expect(results.events == ["late"])
            return try #require(released)
        }
    }
}
