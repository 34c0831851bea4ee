/// A continuation through which a callback API resumes a caller that waits in `withCancellableContinuation`.
///
/// ```swift
/// api.fetch { result in continuation.resume(with: result) }
/// ```
///
/// A continuation may be copied, stored, and resumed from any thread. Only the first call that resumes it counts. A later call does nothing, and is
/// reported to diagnostics as a mistake. The callback with which an API responds to a cancellation is not a mistake: only observers receive it. When
/// the last copy is released and none was resumed, the caller receives ``ContinuationDroppedError``.
public struct CancellableContinuation<Value>: Sendable {
    @usableFromInline let _token: _TypedBridgeToken<Value>

    @inlinable
    init(_ token: _TypedBridgeToken<Value>) {
        _token = token
    }

    /// Resumes the caller with the result of the callback: a value, or an error.
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

    /// Resumes the caller with a value.
    ///
    /// - Parameter value: The value, which is sent to the caller and need not be Sendable.
    /// - Complexity: O(1).
    @inlinable
    public func resume(returning value: sending Value) {
        let token = _token
        token.finish(.value(Value.self)) { token.result = .success(value) }
    }

    /// Resumes the caller with an error.
    ///
    /// - Parameter error: The error that the caller throws; if the caller is cancelled, it throws `CancellationError` instead.
    /// - Complexity: O(1).
    @inlinable
    public func resume(throwing error: any Error) {
        let token = _token
        token.finish(.error(error)) { token.result = .failure(error) }
    }
}

extension CancellableContinuation where Value == Void {
    /// Resumes the caller without a value.
    ///
    /// - Complexity: O(1).
    @inlinable
    public func resume() {
        resume(returning: ())
    }
}
