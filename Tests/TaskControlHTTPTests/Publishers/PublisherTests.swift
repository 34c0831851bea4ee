#if canImport(Combine) || OpenCombine
import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite(.timeLimit(.minutes(15)))
struct PublisherTests {
    private enum Signal: Equatable {
        case value(String)
        case finished
        case failed
    }

    /// A subscriber that demands nothing by itself, and records what it receives.
    private final class Recorder: Subscriber, Sendable {
        typealias Input = String
        typealias Failure = any Error

        let signals = OrderRecorder<Signal>()
        private let subscription = Locked<(any Subscription)?>(nil)
        private let onValue: @Sendable (Recorder) -> Void

        init(onValue: @escaping @Sendable (Recorder) -> Void = { _ in }) {
            self.onValue = onValue
        }

        func receive(subscription: any Subscription) {
            nonisolated(unsafe) let subscription = subscription
            self.subscription.withLock { $0 = subscription }
        }

        func receive(_ input: String) -> Subscribers.Demand {
            signals.record(.value(input))
            onValue(self)
            return .unlimited
        }

        func receive(completion: Subscribers.Completion<any Error>) {
            switch completion {
            case .finished: signals.record(.finished)
            case .failure: signals.record(.failed)
            }
        }

        func demand(_ demand: Subscribers.Demand) { subscription.withLock(\.self)?.request(demand) }

        func cancel() { subscription.withLock(\.self)?.cancel() }
    }

    private let queue = DispatchQueue(label: "completions")

    private func client(_ transport: MockTransport) -> EndpointClient {
        EndpointClient(transport, completionQueue: queue)
    }

    /// Waits until everything that is on the queue of completions has run.
    private func settle() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    @Test func eachSubscriberThatDemandsSendsARequestOfItsOwn() async throws {
        let transport = MockTransport { _ in (200, Data("text".utf8)) }
        let publisher = client(transport).publisher(for: Text())
        let recorders = [Recorder(), Recorder()]
        for recorder in recorders { publisher.subscribe(recorder) }
        await settle()
        #expect(transport.requests.isEmpty)
        for (count, recorder) in recorders.enumerated() {
            recorder.demand(.max(1))
            try await recorder.signals.waitForEvents(count: 2)
            recorder.demand(.unlimited)
            #expect(transport.requests.count == count + 1)
            #expect(recorder.signals.events == [.value("text"), .finished])
        }
        await settle()
        #expect(recorders.map(\.signals.count) == [2, 2])
    }

    @Test func noDemandStartsNothing() async throws {
        let transport = MockTransport { _ in (200, Data()) }
        let recorder = Recorder()
        client(transport).publisher(for: Text()).subscribe(recorder)
        recorder.demand(.none)
        await settle()
        #expect(transport.requests.isEmpty)
        recorder.cancel()
        recorder.demand(.unlimited)
        await settle()
        #expect(transport.requests.isEmpty)
    }

    @Test func aFailureIsTheOnlySignal() async throws {
        let recorder = Recorder()
        client(MockTransport { _ in (500, Data()) }).publisher(for: Checked()).subscribe(recorder)
        recorder.demand(.unlimited)
        try await recorder.signals.waitForEvents(count: 1)
        await settle()
        #expect(recorder.signals.events == [.failed])
    }

    @Test func anUploadIsPublished() async throws {
        let transport = MockTransport { request in (200, request.httpBody ?? Data()) }
        let recorder = Recorder()
        let upload = Upload(body: .data(Data("body".utf8)))
        client(transport).publisher(for: upload).subscribe(recorder)
        recorder.demand(.max(1))
        try await recorder.signals.waitForEvents(count: 2)
        #expect(recorder.signals.events == [.value("body"), .finished])
    }

    @Test func cancellingEndsTheRequestAndDeliversNothing() async throws {
        let (gate, ended) = (Gate(), Gate())
        let transport = MockTransport { _ in
            defer { ended.open() }
            try await gate.wait()
            return (200, Data())
        }
        let recorder = Recorder()
        client(transport).publisher(for: Text()).subscribe(recorder)
        recorder.demand(.unlimited)
        try await gate.waitForWaiters()
        recorder.cancel()
        try await ended.wait()
        await settle()
        #expect(recorder.signals.count == 0)
    }

    @Test func aSubscriberThatCancelsAtItsValueReceivesNoCompletion() async throws {
        let recorder = Recorder { $0.cancel() }
        client(MockTransport { _ in (200, Data()) }).publisher(for: Text()).subscribe(recorder)
        recorder.demand(.unlimited)
        try await recorder.signals.waitForEvents(count: 1)
        await settle()
        #expect(recorder.signals.events == [.value("")])
    }

    /// A client of the test's own, which calls a closure while it makes the request, and then the completion handler.
    private struct HastyClient: APIClient {
        let progress = Progress(totalUnitCount: 1)
        let duringRequest: @Sendable () -> Void

        func request<E: Endpoint>(
            _ endpoint: E,
            onProgress: (@Sendable (TransferProgress) -> Void)?
        ) async throws -> E.Content { throw Mishap() }

        func upload<E: UploadEndpoint>(
            _ endpoint: E,
            onProgress: (@Sendable (TransferProgress) -> Void)?
        ) async throws -> E.Content { throw Mishap() }

        func request<E: Endpoint>(
            _ endpoint: E,
            completionHandler: @escaping @Sendable (Result<E.Content, any Error>) -> Void
        ) -> Progress {
            duringRequest()
            completionHandler(.failure(Mishap()))
            completionHandler(.failure(Mishap()))
            return progress
        }
    }

    @Test func aCancellationWhileTheRequestIsMadeReachesIt() {
        let recorder = Recorder()
        let client = HastyClient { recorder.cancel() }
        client.publisher(for: Text()).subscribe(recorder)
        recorder.demand(.unlimited)
        #expect(client.progress.isCancelled)
        #expect(recorder.signals.count == 0)
    }

    @Test func aClientThatCompletesTwiceAtOnceCompletesOnce() {
        let recorder = Recorder()
        HastyClient {}.publisher(for: Text()).subscribe(recorder)
        recorder.demand(.unlimited)
        #expect(recorder.signals.events == [.failed])
    }

    @Test(arguments: [true, false])
    func aSubscriberIsReleasedWhenItHasEnded(isCancelled: Bool) async throws {
        let subscriptions = Locked<[any Subscription]>([])
        let transport = MockTransport { _ in (200, Data()) }
        try await requireDeallocated {
            let recorder = Recorder()
            let keeper = AnySubscriber<String, any Error>(
                receiveSubscription: { subscription in
                    nonisolated(unsafe) let subscription = subscription
                    subscriptions.withLock { $0.append(subscription) }
                },
                receiveValue: recorder.receive,
                receiveCompletion: recorder.receive
            )
            client(transport).publisher(for: Text()).subscribe(keeper)
            let subscription = subscriptions.withLock { $0.last! }
            if isCancelled {
                subscription.cancel()
            } else {
                subscription.request(.unlimited)
                try await recorder.signals.waitForEvents(count: 2)
                await settle()
            }
            return recorder
        }
    }

    @Test func operatorsAndSinksWork() async throws {
        let transport = MockTransport { _ in (200, Data("text".utf8)) }
        let signals = OrderRecorder<Signal>()
        let subscription = client(transport).publisher(for: Text())
            .map { $0.uppercased() }
            .first()
            .sink { _ in
                signals.record(.finished)
            } receiveValue: {
                signals.record(.value($0))
            }
        try await signals.waitForEvents(count: 2)
        #expect(signals.events == [.value("TEXT"), .finished])
        withExtendedLifetime(subscription) {}
    }
}
#endif
