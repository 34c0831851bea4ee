/// The engine under all bridges: locks, asks the state machine, unlocks, and only then acts.
///
/// The caller retains it while it waits, and so does the continuation.
@usableFromInline
struct _Bridge: Sendable {
    typealias Machine = BridgeStateMachine<Handle, UnsafeContinuation<Void, Never>, _BridgeToken>
    @usableFromInline typealias Handle = @Sendable () -> Void

    private let state: Locked<Contents>

    private struct Contents {
        var machine = Machine()
        /// Its events, if an observer was registered when it began. In here, so that a task that waits does not have them in its frame.
        var events: CallEvents?
        /// A cancellation that observers have not been notified of yet.
        var owesCancellation = false
    }

    @usableFromInline
    init(_ place: _BridgePlace) {
        let events = CallEvents.begin(.withCancellableContinuation, .started, .waiting, detail: place.text)
        state = Locked(Contents(events: events))
    }

    /// `nil` if no observer was registered when it began.
    var events: CallEvents? { Diagnostics.whileObserved(state.withLock { $0.events }) ?? nil }

    // MARK: The caller

    /// Begins the wait: the body has returned the handle to cancel.
    ///
    /// - Returns: The result of a callback that has come already: it needs no continuation, and no handler for a cancellation.
    @usableFromInline
    func begin(_ handle: @escaping Handle) -> _BridgeToken? {
        state.withLock { $0.machine.begin(handle) }
    }

    /// Ends the bridge with the error of the body.
    ///
    /// - Returns: The result of a callback that had come before, which then counts.
    @usableFromInline
    func fail(_ error: any Error) throws -> _BridgeToken {
        guard let token = state.withLock({ $0.machine.fail() }) else {
            // A cancelled caller receives CancellationError, whatever was thrown.
            events?.end(.failed, .failed, error: error)
            try Task.checkCancellation()
            throw error
        }
        TaskOrigin.withCancellableContinuation.reportUnhandled(error)
        return token
    }

    /// Waits for the end of the bridge.
    ///
    /// - Returns: The token that holds the result.
    /// - Throws: `CancellationError`, ``ContinuationDroppedError``.
    @usableFromInline
    nonisolated(nonsending) func wait(
        whenCancelled behavior: CancelledContinuationBehavior,
        _ place: _BridgePlace
    ) async throws -> _BridgeToken {
        // Carries no value: ThreadSanitizer does not follow a value to a task that has not parked yet.
        await suspend { waiter in
            state.withLock { $0.machine.park(waiter) } ? nil : ()
        } onCancel: {
            // May come before the waiter has parked: the caller may have been cancelled while the API was called.
            cancel(isLeaving: behavior == .throwImmediately)
        }
        emitCancelled()
        switch state.withLock({ $0.machine.collect() }) {
        case .finished(let token):
            return token
        case .left:
            events?.end(.left, .cancelled)
            throw CancellationError()
        case .dropped:
            let error = ContinuationDroppedError(fileID: place.fileID.description, line: place.line)
            reportDropped(error)
            events?.end(.failed, .failed, error: error)
            // A cancelled caller receives CancellationError, whatever was thrown.
            try Task.checkCancellation()
            throw error
        }
    }

    /// Cancels the API, inside the cancellation handler of the caller, which is the only task that is resumed here.
    private func cancel(isLeaving: Bool) {
        var handle = state.withLock { contents in
            let handle = contents.machine.cancel(isLeaving: isLeaving)
            if handle != nil { contents.owesCancellation = contents.events != nil }
            return handle
        }
        guard handle != nil else { return }
        // A caller that leaves now reports that itself.
        if !isLeaving, Diagnostics.whileObserved(true) != nil { performOutsideHandler { emitCancelled() } }
        insideHandler {
            handle?()
            // Before the caller continues.
            handle = nil
        }
        state.withLock { $0.machine.cancelled() }?.resume()
    }

    /// Notifies observers of the cancellation, once: soon after it, or at the end of the call.
    private func emitCancelled() {
        let events = Diagnostics.whileObserved(
            state.withLock { contents in
                defer { contents.owesCancellation = false }
                return contents.owesCancellation ? contents.events : nil
            }
        )
        events??.emit(.cancelled, isInside: false)
    }

    private func reportDropped(_ error: ContinuationDroppedError) {
        Diagnostics.report(
            TaskEvent(
                .withCancellableContinuation,
                .continuationDropped,
                subject: events?.subject,
                taskName: Diagnostics.currentTaskName,
                detail: "\(error.fileID):\(error.line)"
            ),
            advice: error.description
        )
    }

    // MARK: The callback

    /// - Parameter store: Keeps the result in the token. Called under the lock, if this is the first.
    /// - Returns: The meaning of this callback, if it is not the first.
    func finish(_ token: _BridgeToken, _ store: () -> Void) -> ExcessCallback? {
        var waking = Machine.Waking()
        let excess: ExcessCallback? = state.withLock { contents in
            switch contents.machine.finish(token) {
            case .first(let first):
                store()
                waking = first
                return nil
            case .excess(let excess):
                return excess
            }
        }
        Self.wake(&waking)
        return excess
    }

    /// The last copy of the continuation has been released.
    func drop() {
        var waking = state.withLock { $0.machine.drop() }
        Self.wake(&waking)
    }

    /// The handle is released first: the caller finds it released. In place, since a copy would retain it.
    private static func wake(_ waking: inout Machine.Waking) {
        waking.handle = nil
        waking.waiter?.resume()
    }
}
