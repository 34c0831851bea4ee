/// A policy that admits or refuses each call of a service, and counts how the calls end.
@usableFromInline
protocol _CallGate: Sendable {
    associatedtype _Permit: Sendable

    /// Admits a call, perhaps after a wait.
    ///
    /// - Returns: The admission, which must be passed to `_succeeded(_:)` or `_failed(_:_:)` when the call ends.
    /// - Throws: The error of a refused call; `CancellationError` if the caller is cancelled.
    nonisolated(nonsending) func _admit() async throws -> _Permit

    /// Records that a call has returned a value.
    func _succeeded(_ permit: _Permit)

    /// Records that a call has thrown an error.
    ///
    /// - Returns: The error for the caller: `CancellationError` if the caller is cancelled, otherwise `error`.
    func _failed(_ permit: _Permit, _ error: any Error) -> any Error
}

extension _CallGate {
    /// Runs an operation as one call: admits the call, perhaps after a wait, and records how it ends.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func _run<Value>(
        _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        let permit = try await _admit()
        do {
            let value = try await operation()
            _succeeded(permit)
            return value
        } catch {
            throw _failed(permit, error)
        }
    }
}
