#if canImport(Combine)
public import Combine
#elseif OpenCombine
public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
/// A publisher of the content of an endpoint, which sends a request for each subscriber.
private struct EndpointPublisher<Output: Sendable>: Publisher, Sendable {
    typealias Failure = any Error

    let send: @Sendable (@escaping @Sendable (Result<Output, any Error>) -> Void) -> Progress

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == any Error {
        subscriber.receive(subscription: EndpointSubscription(subscriber, send))
    }
}

extension APIClient {
    /// Returns a publisher of the content of an endpoint.
    ///
    /// ```swift
    /// client.publisher(for: BookListEndpoint())
    ///     .sink { completion in … } receiveValue: { books in … }
    ///     .store(in: &subscriptions)
    /// ```
    ///
    /// The publisher is one of Combine, or of OpenCombine if the platform has no Combine and the package trait `OpenCombine`
    /// is enabled. A file that imports OpenCombine and this module needs `import class OpenCombine.AnyCancellable` for a
    /// `Set<AnyCancellable>`: TaskControl has a type of that name too.
    ///
    /// The publisher sends nothing by itself. Each subscriber starts a request of its own when it first demands a value,
    /// and receives either the content and then the completion, or an error as the completion. Both arrive on the
    /// `APIClient.completionQueue` of the client, which is the main queue by default.
    ///
    /// The publisher and the running requests retain the client.
    ///
    /// ## Cancellation
    /// Cancelling the subscription cancels the request, and releases the subscriber. If `cancel()` is called on the
    /// `APIClient.completionQueue` of the client, the subscriber receives nothing after `cancel()` has returned. If it is
    /// called on another thread, a delivery that has begun may still run.
    ///
    /// - Returns: The publisher. It fails with any error with which the request of a subscriber fails.
    public func publisher<E: Endpoint>(for endpoint: E) -> AnyPublisher<E.Content, any Error> {
        EndpointPublisher { request(endpoint, completionHandler: $0) }.eraseToAnyPublisher()
    }

    /// Returns a publisher of the content of the response to an upload, with the rules of the publisher of an endpoint.
    ///
    /// A body that `UploadEndpointBody.stream(_:)` returns can be sent only once. If the endpoint returns the same body
    /// each time, only the first subscriber's request can send it, and every other subscriber receives an error.
    ///
    /// - Returns: The publisher. It fails with any error with which the request of a subscriber fails.
    public func publisher<E: UploadEndpoint>(for endpoint: E) -> AnyPublisher<E.Content, any Error> {
        EndpointPublisher { upload(endpoint, completionHandler: $0) }.eraseToAnyPublisher()
    }
}

/// The subscription of one subscriber, and its request.
private final class EndpointSubscription<Output: Sendable>: Subscription, Sendable {
    /// The subscriber as two closures, without its type: a `@Sendable` closure that used the type would capture its
    /// metatype.
    private struct Receiver {
        let value: (Output) -> Void
        let completion: (Subscribers.Completion<any Error>) -> Void
    }

    private struct State {
        var machine = PublicationStateMachine()
        /// The subscriber; `nil` once it has received its completion, or has cancelled.
        var receiver: Receiver?
        /// The progress with which the request is cancelled; `nil` before the request has been sent and after it has
        /// ended.
        var request: Progress?

        /// Removes and returns the subscriber and the request. The caller must release them after the lock has been
        /// released.
        mutating func release() -> (Receiver?, Progress?) { (receiver.take(), request.take()) }
    }

    private let state: Locked<State>
    private let send: @Sendable (@escaping @Sendable (Result<Output, any Error>) -> Void) -> Progress

    init<Downstream: Subscriber>(
        _ subscriber: Downstream,
        _ send: @escaping @Sendable (@escaping @Sendable (Result<Output, any Error>) -> Void) -> Progress
    ) where Downstream.Input == Output, Downstream.Failure == any Error {
        // A subscriber is not Sendable. Publishers call it from any thread, and from one at a time.
        nonisolated(unsafe) let state = State(
            // There is one value: further demand is ignored.
            receiver: Receiver(
                value: { _ = subscriber.receive($0) },
                completion: { subscriber.receive(completion: $0) }
            )
        )
        self.state = Locked(state)
        self.send = send
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none, state.withLock({ $0.machine.demand() }) else { return }
        let request = send { self.finish(with: $0) }
        // The subscriber may have cancelled while the request was made.
        let isOver = state.withLock { state in
            if !state.machine.isEnded { state.request = request }
            return state.machine.isEnded
        }
        if isOver { request.cancel() }
    }

    private func finish(with result: Result<Output, any Error>) {
        let receiver = state.withLock { $0.machine.finish() ? $0.receiver : nil }
        guard let receiver else { return }
        let completion: Subscribers.Completion<any Error>
        switch result {
        case .success(let content):
            receiver.value(content)
            completion = .finished
        case .failure(let error):
            completion = .failure(error)
        }
        let (completes, released) = state.withLock { ($0.machine.complete(), $0.release()) }
        if completes { receiver.completion(completion) }
        _ = released
    }

    func cancel() {
        let (_, request) = state.withLock { state in
            state.machine.cancel()
            return state.release()
        }
        request?.cancel()
    }
}
#endif
