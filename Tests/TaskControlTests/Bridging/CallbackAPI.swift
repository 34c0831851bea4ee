import TaskControl
import TaskControlTesting

/// A callback API that does what the test says: it keeps its callback until the callback is called, or released.
final class CallbackAPI: Sendable {
    typealias Callback = @Sendable (Result<Int, any Error>) -> Void

    /// Opens when it has been called.
    let called = Gate()
    private let callback = Locked<Callback?>(nil)
    /// Called by each cancellation.
    private let onCancel: @Sendable (CallbackAPI) -> Void

    init(onCancel: @escaping @Sendable (CallbackAPI) -> Void = { _ in }) {
        self.onCancel = onCancel
    }

    /// The handle that the caller can cancel. It has a reference to its API, and not to the callback.
    final class Request: Cancellable, Sendable {
        private let api: CallbackAPI
        private let probe: DeinitProbe

        init(_ api: CallbackAPI, _ probe: DeinitProbe) {
            (self.api, self.probe) = (api, probe)
        }

        func cancel() {
            api.cancellations.record(true)
            api.onCancel(api)
        }
    }

    let cancellations = OrderRecorder<Bool>()
    /// Opens when the request has been released.
    let forgotten = Gate()

    /// - Parameter meanwhile: Happens while it is being called.
    func load(_ callback: @escaping Callback, meanwhile: (CallbackAPI) -> Void = { _ in }) -> Request {
        self.callback.withLock { $0 = callback }
        meanwhile(self)
        called.open()
        return Request(self, DeinitProbe(forgotten))
    }

    /// Calls back, and keeps the callback.
    func callBack(_ result: Result<Int, any Error>) {
        callback.withLock { $0 }?(result)
    }

    /// Releases the callback.
    func letGo() {
        _ = callback.withLock { $0.take() }
    }
}

/// Bridges it, on the main actor: when a test there continues after `called.wait()`, the caller has parked.
@MainActor func call(
    _ api: CallbackAPI,
    whenCancelled: CancelledContinuationBehavior = .throwImmediately,
    fileID: StaticString = #fileID,
    line: Int = #line,
    meanwhile: (CallbackAPI) -> Void = { _ in }
) async throws -> Int {
    try await withCancellableContinuation(whenCancelled: whenCancelled, fileID: fileID, line: line) { continuation in
        api.load({ continuation.resume(with: $0) }, meanwhile: meanwhile)
    }
}

/// Cancels the calling task.
func cancelCurrentTask() {
    withUnsafeCurrentTask { $0?.cancel() }
}
