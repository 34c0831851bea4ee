// The engine of bridges, from the outside in:
//
//     withCancellableContinuation             the face
//     CancellableContinuation                 what the callback resumes
//     _BridgeToken                            what its copies retain: `deinit` tells that the last one is gone
//     _Bridge                                 the lock, the handle to cancel, and the result
//       BridgeStateMachine                    which of callback, cancellation and parking came first

/// The connection between a callback and the caller that waits for it in `withCancellableContinuation`. Calls a
/// ``BridgeStateMachine`` under a lock, and carries out its decisions after unlocking.
///
/// Each call has one bridge, whose state its waiting caller and its continuation share: a copy of this struct is a
/// reference to that state.
@usableFromInline
struct _Bridge: Sendable {
    typealias Machine = BridgeStateMachine
    @usableFromInline typealias Handle = @Sendable () -> Void

    private let state: Locked<Contents>

    private struct Contents {
        var machine = Machine()
        /// The handle, as long as the machine has its name.
        private var handle: Handle?
        /// The token that holds the result, as long as the machine has its name.
        private var token: _BridgeToken?
        /// The object that emits the events of the call of `withCancellableContinuation`; `nil` if no observer was
        /// registered when the call began. Stored here to keep the stack frame of the waiting task small.
        var events: CallEvents?
        /// Whether the call was cancelled and observers have not been notified of the cancellation yet.
        var owesCancellation = false

        private static var handleName: Word { Word(bits: 1) }
        private static var tokenName: Word { Word(bits: 2) }

        init(events: CallEvents?) { self.events = events }

        mutating func begin(_ handle: @escaping Handle) -> _BridgeToken? {
            let name = machine.begin(Self.handleName)
            if machine.handle != nil { self.handle = handle }
            return name == nil ? nil : token.take()
        }

        mutating func fail() -> _BridgeToken? { machine.fail() == nil ? nil : token.take() }

        /// Returns the way in which the bridge has ended, and the token, if a callback has come.
        mutating func collect() -> (Machine.Ending, _BridgeToken?) { (machine.collect(), token.take()) }

        mutating func cancel(isLeaving: Bool) -> Handle? {
            machine.cancel(isLeaving: isLeaving) == nil ? nil : handle.take()
        }

        /// Keeps the token of the first callback.
        ///
        /// - Parameter waking: Receives what the caller must release and resume.
        /// - Returns: The reason why the callback is ignored; `nil` for the first one.
        mutating func finish(_ token: _BridgeToken, _ waking: inout Waking) -> ExcessCallback? {
            switch machine.finish(Self.tokenName) {
            case .first(let first):
                self.token = token
                take(first, &waking)
                return nil
            case .excess(let excess): return excess
            }
        }

        mutating func drop(_ waking: inout Waking) { take(machine.drop(), &waking) }

        private mutating func take(_ answer: Machine.Waking, _ waking: inout Waking) {
            waking.waiter = answer.waiter
            if answer.handle != nil { swap(&waking.handle, &handle) }
        }
    }

    /// The handle to release, and the caller to resume then.
    private struct Waking {
        var handle: Handle?
        var waiter: Word?
    }

    @usableFromInline
    init(_ place: _BridgePlace) {
        let events = CallEvents.begin(.withCancellableContinuation, .started, .waiting, detail: place.text)
        state = Locked(Contents(events: events))
    }

    /// The object that emits the events of the call of `withCancellableContinuation`; `nil` if no observer was
    /// registered when the call began, or if none is registered now.
    var events: CallEvents? { Diagnostics.whileObserved(state.withLock { $0.events }) ?? nil }

    // MARK: The caller

    /// Begins the wait for the callback, after the body of `withCancellableContinuation` has returned.
    ///
    /// - Parameter handle: The closure that the body has returned, which cancels the call of the API.
    /// - Returns: The token that holds the result, if the callback has already come: the caller then needs neither a
    ///   continuation nor a cancellation handler. `nil` if the caller must wait.
    @usableFromInline
    func begin(_ handle: @escaping Handle) -> _BridgeToken? {
        state.withLock { $0.begin(handle) }
    }

    /// Ends the bridge after the body of `withCancellableContinuation` has thrown `error`.
    ///
    /// - Returns: The token that holds the result of a callback that came before the body threw. The result takes
    ///   precedence over `error`, which is only reported to diagnostics.
    /// - Throws: If no callback has come: `CancellationError` if the caller is cancelled, otherwise `error`.
    @usableFromInline
    func fail(_ error: any Error) throws -> _BridgeToken {
        guard let token = state.withLock({ $0.fail() }) else {
            // A cancelled caller receives CancellationError, whatever was thrown.
            events?.end(.failed, .failed, error: error)
            try Task.checkCancellation()
            throw error
        }
        TaskOrigin.withCancellableContinuation.reportUnhandled(error)
        return token
    }

    /// Suspends the caller until the callback has come, the continuation was dropped (its last copy was released), or
    /// the caller is cancelled.
    ///
    /// - Parameters:
    ///   - behavior: Whether a caller that is cancelled stops waiting immediately or waits for the callback.
    ///   - place: The file and line of the call of `withCancellableContinuation`, for ``ContinuationDroppedError``.
    /// - Returns: The token that holds the result of the callback.
    /// - Throws: `CancellationError` if the caller was cancelled, and stopped waiting or the continuation was dropped;
    ///   otherwise ``ContinuationDroppedError`` if the continuation was dropped.
    @usableFromInline
    nonisolated(nonsending) func wait(
        whenCancelled behavior: CancelledContinuationBehavior,
        _ place: _BridgePlace
    ) async throws -> _BridgeToken {
        // Carries no value: ThreadSanitizer does not follow a value to a task that has not parked yet.
        await suspend { waiter in
            state.withLock { $0.machine.park(Word(waiter)) } ? nil : ()
        } onCancel: {
            // This may run before the waiter has parked: the caller may have been cancelled while the API was called.
            cancel(isLeaving: behavior == .throwImmediately)
        }
        emitCancelled()
        let (ending, token) = state.withLock { $0.collect() }
        switch ending {
        case .finished:
            return token!
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

    /// Calls the handle (the closure that cancels the call of the API), and then resumes the caller if its wait has
    /// ended. Runs inside the cancellation handler of the caller's task, so it must not resume any other task.
    ///
    /// - Parameter isLeaving: Whether the caller stops waiting immediately instead of waiting for the callback.
    private func cancel(isLeaving: Bool) {
        var handle = state.withLock { contents in
            let handle = contents.cancel(isLeaving: isLeaving)
            if handle != nil { contents.owesCancellation = contents.events != nil }
            return handle
        }
        guard handle != nil else { return }
        // A caller that stops waiting now reports the cancellation itself.
        if !isLeaving, Diagnostics.whileObserved(true) != nil { performOutsideHandler { emitCancelled() } }
        insideHandler {
            handle?()
            // Released before the caller continues.
            handle = nil
        }
        state.withLock { $0.machine.cancelled() }?.resume()
    }

    /// Notifies observers that the call was cancelled, if they have not been notified yet.
    private func emitCancelled() {
        let events = Diagnostics.whileObserved(
            state.withLock { contents in
                defer { contents.owesCancellation = false }
                return contents.owesCancellation ? contents.events : nil
            }
        )
        events??.emit(.cancelled, isInside: false)
    }

    @inline(never)
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

    /// Records the first callback and resumes the caller, or ignores a later callback.
    ///
    /// - Parameters:
    ///   - token: The token of the continuation that was resumed, which holds the result.
    ///   - store: Stores the result in the token. Called under the lock, and only for the first callback.
    /// - Returns: The reason why the callback is ignored; `nil` for the first callback.
    func finish(_ token: _BridgeToken, _ store: () -> Void) -> ExcessCallback? {
        var waking = Waking()
        let excess = state.withLock { contents in
            let excess = contents.finish(token, &waking)
            if excess == nil { store() }
            return excess
        }
        Self.wake(&waking)
        return excess
    }

    /// Records that the last copy of the continuation was released, and resumes the caller if no callback had come.
    func drop() {
        var waking = Waking()
        state.withLock { $0.drop(&waking) }
        Self.wake(&waking)
    }

    /// Releases the handle (the closure that cancels the call of the API), and then resumes the caller, which therefore
    /// finds the handle released.
    ///
    /// - Parameter waking: The handle to release and the continuation of the caller to resume. Changed in place, since
    ///   a copy would retain the handle.
    private static func wake(_ waking: inout Waking) {
        waking.handle = nil
        waking.waiter?.resume()
    }
}
