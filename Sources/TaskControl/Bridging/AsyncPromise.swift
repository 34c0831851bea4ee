/// A result that is set once, and that any number of callers await.
///
/// ```swift
/// let connected = AsyncPromise<Void>(name: "connected")
///
/// connected.succeed()                     // or connected.fail(error): the first call counts
/// connected.reset()                       // the connection is lost: callers wait for the next one
///
/// try await withTimeout(.seconds(10)) { try await connected.value }
/// ```
///
/// Each caller has a wait of its own, with its own cancellation and its own time limit. Callers that come after the result
/// was set receive it without waiting.
///
/// Safe to use from any thread and any isolation. A caller that waits retains the promise; if its result is never set, the
/// caller waits until it is cancelled.
///
/// Related APIs: ``SingleFlight`` also *runs* the work whose result its callers share. `withCancellableContinuation` is for
/// one caller and one callback. ``PendingReplies`` has a result per request.
public final class AsyncPromise<Value: Sendable>: Sendable {
    private let source: EventSource
    @usableFromInline let _current = Locked(_TypedPromise<Value>())

    /// Creates a promise whose result is not set.
    ///
    /// - Parameter name: The name shown in diagnostics; `nil` for none.
    public init(name: String? = nil) {
        source = EventSource(.asyncPromise, name: name)
        source.emit(.created)
    }

    deinit {
        source.emit(.deallocated)
    }

    /// The name shown in diagnostics; `nil` if this promise has none.
    public var name: String? { source.name }

    /// The value. Waits until the result is set.
    ///
    /// ## Cancellation
    /// A cancelled caller stops waiting immediately, and throws `CancellationError`. The other callers are not affected. A
    /// caller that was cancelled before the call throws, even if the result is set. If the result is set at the same time as
    /// the caller is cancelled, the caller receives the value.
    ///
    /// ## Ordering
    /// Callers are resumed in the order of their calls. A caller that waits when the result is set receives this result, also
    /// if ``reset()`` is called before the caller runs.
    ///
    /// - Throws: The error of ``fail(_:)``; `CancellationError` if the caller is cancelled, in place of that error.
    /// - Complexity: O(1).
    @export(implementation)
    public nonisolated(nonsending) var value: Value {
        get async throws {
            let promise = _current.withLock { $0 }
            try await _wait(for: promise)
            return promise.value!
        }
    }

    @usableFromInline
    nonisolated(nonsending) func _wait(for promise: _Promise) async throws { try await promise.wait(source) }

    /// The result; `nil` if it is not set. It may have changed by the time the caller uses it.
    @export(implementation)
    public var result: Result<Value, any Error>? { _current.withLock { $0 }.result }

    /// Sets the result to a value, and resumes the callers that wait. Has no effect if the result is set.
    ///
    /// - Parameter value: The value that all callers receive.
    /// - Returns: Whether this call has set the result.
    /// - Complexity: O(*n*) in the number of callers that wait.
    @export(implementation)
    @discardableResult
    public func succeed(_ value: Value) -> Bool { complete(with: Result<Value, Never>.success(value)) }

    /// Sets the result to an error, and resumes the callers that wait. Has no effect if the result is set.
    ///
    /// The error is kept for later callers, and is not reported if none comes.
    ///
    /// - Parameter error: The error that all callers throw, except those that are cancelled.
    /// - Returns: Whether this call has set the result.
    /// - Complexity: O(*n*) in the number of callers that wait.
    @export(implementation)
    @discardableResult
    public func fail(_ error: any Error) -> Bool { complete(with: Result<Value, any Error>.failure(error)) }

    /// Sets the result, and resumes the callers that wait. Has no effect if the result is set.
    ///
    /// - Parameter result: The value that all callers receive, or the error that they throw.
    /// - Returns: Whether this call has set the result.
    /// - Complexity: O(*n*) in the number of callers that wait.
    @export(implementation)
    @discardableResult
    public func complete<Failure: Error>(with result: Result<Value, Failure>) -> Bool {
        _current.withLock { $0 }.complete(with: result)
    }

    /// Makes the result unset, so that later callers wait until it is set again. Has no effect if the result is not set:
    /// callers that wait continue to wait.
    ///
    /// - Complexity: O(1).
    @export(implementation)
    public func reset() {
        let settled = _current.withLock { $0 }
        guard settled.isSettled else { return }
        let next = _TypedPromise<Value>()
        _current.withLock { if $0 === settled { $0 = next } }
    }
}

extension AsyncPromise where Value == Void {
    /// Sets the result, and resumes the callers that wait. Has no effect if the result is set.
    ///
    /// - Returns: Whether this call has set the result.
    /// - Complexity: O(*n*) in the number of callers that wait.
    @export(implementation)
    @discardableResult
    public func succeed() -> Bool { succeed(()) }
}
