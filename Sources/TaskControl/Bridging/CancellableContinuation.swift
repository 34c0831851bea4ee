/// A continuation through which a callback API resumes a caller that waits in `withCancellableContinuation`.
///
/// ```swift
/// api.fetch { result in continuation.resume(with: result) }
/// ```
///
/// A continuation can be copied, stored, and resumed from any thread. The continuation and its copies resume the caller
/// once, with the first call. Each later call is ignored, and reported to diagnostics as a mistake in the program (see
/// ``TaskDiagnostics``), unless the function is called with `reportsRepeatedCallbacks: false`.
///
/// If the caller was cancelled and has already stopped waiting, the first call is ignored too. It is not a mistake,
/// because an API usually responds to a cancellation by calling back, so only observers receive an event for it. If the
/// last copy is released and none was resumed, a caller that still waits throws ``ContinuationDroppedError``, or
/// `CancellationError` if it was cancelled.
public struct CancellableContinuation<Value>: Sendable {
    @usableFromInline let _token: _TypedBridgeToken<Value>

    @export(implementation)
    init(_ token: _TypedBridgeToken<Value>) {
        _token = token
    }

    /// Resumes the caller with the result of the callback: a value, or an error. If the caller is cancelled, it throws
    /// `CancellationError` in place of the error.
    ///
    /// - Complexity: O(1).
    @export(implementation)
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
    @export(implementation)
    public func resume(returning value: sending Value) {
        let token = _token
        token.finish(.value(Value.self)) { token.result = .success(value) }
    }

    /// Resumes the caller with an error.
    ///
    /// - Parameter error: The error that the caller throws; if the caller is cancelled, it throws `CancellationError` instead.
    /// - Complexity: O(1).
    @export(implementation)
    public func resume(throwing error: any Error) {
        let token = _token
        token.finish(.error(error)) { token.result = .failure(error) }
    }
}

extension CancellableContinuation where Value == Void {
    /// Resumes the caller without a value.
    ///
    /// - Complexity: O(1).
    @export(implementation)
    public func resume() {
        resume(returning: ())
    }
}
