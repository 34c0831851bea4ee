/// A continuation through which a callback API resumes a caller that waits in `withCancellableContinuation`.
///
/// ```swift
/// api.fetch { result in continuation.resume(with: result) }
/// ```
///
/// A continuation can be copied, stored, and resumed from any thread. Only the first call that resumes it, or one of
/// its copies, counts; each later call does nothing. Such a later call is a mistake in the program, and is reported to
/// diagnostics (see ``TaskDiagnostics``). The first call after a cancellation of the caller is not a mistake, even if
/// the caller has already stopped waiting, because an API usually responds to a cancellation by calling back: only
/// observers receive an event for it. When the last copy is released and none was resumed, the caller throws
/// ``ContinuationDroppedError``.
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
