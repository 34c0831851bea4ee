// The engine of results that are set once, from the outside in:
//
//     AsyncPromise                            the face: a promise that can be reset
//     PendingReplies, and its table           a promise per request, found by the ID of the request
//       ReplyStateMachine                     which IDs are registered, and whether the connection has ended
//     _TypedPromise, _Promise                 the lock, and the value or the error
//       PromiseStateMachine                   whether the result is set, and the callers that wait for it

/// A result that is set once, and that any number of callers await. Calls a ``PromiseStateMachine`` under a lock, and
/// carries out its decisions after unlocking.
///
/// It is Sendable because the result is written once, under the lock, and read only by code that has found under the
/// lock that the result is set.
@usableFromInline
class _Promise: @unchecked Sendable {
    private let state = Locked(PromiseStateMachine())
    private var failure: (any Error)?

    @usableFromInline
    init() {}

    /// The number of callers that wait.
    var waiterCount: Int { state.withLock { $0.waiterCount } }

    /// Whether the result is set.
    @usableFromInline final var isSettled: Bool { state.withLock { $0.isSettled } }

    /// The error of a result that is set; `nil` if it is a value.
    @usableFromInline final var error: (any Error)? { state.withLock { _ in failure } }

    /// Sets the result, and resumes the callers that wait for it. Has no effect if the result was set before.
    ///
    /// - Parameter store: Stores the result. Called under the lock, and only if this call sets the result.
    /// - Returns: Whether this call has set the result.
    @usableFromInline
    @discardableResult
    final func settle(_ store: () -> Void) -> Bool {
        let waiters = state.withLock { machine in
            let waiters = machine.settle()
            if waiters != nil { store() }
            return waiters
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume(returning: .reached) }
        return true
    }

    /// Sets the result to an error, as `settle(_:)` does.
    @usableFromInline
    @discardableResult
    final func fail(_ error: any Error) -> Bool { settle { failure = error } }

    /// Waits until the result is set.
    ///
    /// - Parameters:
    ///   - source: The instance whose caller waits, for events.
    ///   - detail: The text of the wait in events; `nil` for none.
    /// - Throws: The error with which the result was set. `CancellationError` if the caller is cancelled, in place of
    ///   that error, and without waiting; also if it was cancelled before the call.
    nonisolated(nonsending) final func wait(_ source: EventSource, _ detail: String? = nil) async throws {
        try Task.checkCancellation()
        if let id = state.withLock({ $0.enroll() }) { try await park(id, source, detail) }
        guard let error else { return }
        // A cancelled caller receives CancellationError, whatever was thrown.
        try Task.checkCancellation()
        throw error
    }

    private nonisolated(nonsending) final func park(
        _ id: PromiseStateMachine.ID,
        _ source: EventSource,
        _ detail: String?
    ) async throws(CancellationError) {
        let events = CallEvents.begin(
            source.primitive,
            .waiting,
            .waiting,
            owner: source.identity,
            ownerName: source.name,
            detail: detail
        )
        let outcome = await suspend { waiter in
            state.withLock { $0.park(id, Word(waiter)) }
        } onCancel: {
            state.withLock { $0.leave(id) }?.resume(returning: .left)
        }
        if outcome == .left {
            events?.end(.left, .cancelled)
            throw CancellationError()
        }
        guard let events else { return }
        if let error { events.end(.failed, .failed, error: error) } else { events.end(.completed, .completed) }
    }
}

/// A promise of a value of any type.
///
/// It is Sendable for the same reason as its superclass.
@usableFromInline
final class _TypedPromise<Value: Sendable>: _Promise, @unchecked Sendable {
    /// The value; `nil` if the result is an error or not set.
    @usableFromInline var value: Value?

    @export(implementation)
    override init() { super.init() }

    /// Sets the result, as `settle(_:)` does.
    @export(implementation)
    @discardableResult
    func complete<Failure: Error>(with result: Result<Value, Failure>) -> Bool {
        switch result {
        case .success(let value): settle { self.value = value }
        case .failure(let error): fail(error)
        }
    }

    /// The result; `nil` if it is not set.
    @export(implementation)
    var result: Result<Value, any Error>? {
        guard isSettled else { return nil }
        return error.map { .failure($0) } ?? .success(value!)
    }
}
