/// How a callback API takes its result to a caller that waits in `withCancellableContinuation`.
///
/// ```swift
/// api.fetch { result in continuation.resume(with: result) }
/// ```
///
/// May be copied, kept, and resumed from any thread. The first to resume it wins. One that comes later does nothing, and is reported to
/// diagnostics: as a mistake, unless it is the callback that answers a cancellation, of which only observers hear. When the last copy goes
/// and none was resumed, the caller gets ``ContinuationDroppedError``.
public struct CancellableContinuation<Value>: Sendable {
    @usableFromInline let _token: _TypedBridgeToken<Value>

    @inlinable
    init(_ token: _TypedBridgeToken<Value>) {
        _token = token
    }

    /// Ends the wait with what the callback brings: a value, or an error.
    ///
    /// - Complexity: O(1).
    @inlinable
    public func resume<Failure: Error>(with result: sending Result<Value, Failure>) {
        switch result {
        case .success(let value):
            let token = _token
            token.finish(.value(Value.self)) { token.result = .success(value) }
        case .failure(let error):
            resume(throwing: error)
        }
    }

    /// Ends the wait with a value.
    ///
    /// - Parameter value: Is sent to the caller; it need not be Sendable.
    /// - Complexity: O(1).
    @inlinable
    public func resume(returning value: sending Value) {
        let token = _token
        token.finish(.value(Value.self)) { token.result = .success(value) }
    }

    /// Ends the wait with an error.
    ///
    /// - Parameter error: Thrown to the caller, or, if that is cancelled, `CancellationError` in its place.
    /// - Complexity: O(1).
    @inlinable
    public func resume(throwing error: any Error) {
        let token = _token
        token.finish(.error(error)) { token.result = .failure(error) }
    }
}

extension CancellableContinuation where Value == Void {
    /// Ends the wait for something that has no value.
    ///
    /// - Complexity: O(1).
    @inlinable
    public func resume() {
        resume(returning: ())
    }
}
