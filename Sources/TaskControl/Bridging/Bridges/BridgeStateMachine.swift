/// The state of one call of `withCancellableContinuation`. Pure: a value without a lock, task or closure. It names the
/// handle, which cancels the call of the API, and the outcome, the result of the callback; ``_Bridge`` keeps both.
///
///     calling ──begin──▶ waiting ──park──▶ waiting (parked) ──cancel──▶ cancelling
///        │                  │                  │                           │
///        │ finish, drop     │ finish, drop: the handle and the waiter      │ cancelled: the waiter is returned,
///        ▼                  ▼               are returned                   ▼          if it has ended
///        └───────────────▶ ended ◀─────────────┴───────────────────────────┴──▶ waiting (without a handle)
///                           │ begin, fail, collect: the caller receives it
///                           ▼
///     calling ──fail──▶   over
///
/// The bridge is the connection between the callback and the waiting caller. The first event that ends the bridge
/// determines the result. The machine returns the handle once, and ``_Bridge`` then cancels or releases it. While the
/// handle is being cancelled the caller is not resumed, so the handle is always released before the caller continues.
/// The caller installs its cancellation handler after `begin`; the runtime then calls that handler at once for a caller
/// that was cancelled earlier.
struct BridgeStateMachine {
    /// The name of the handle.
    typealias Handle = Word
    /// The continuation of the waiting caller.
    typealias Waiter = Word
    /// The name of the outcome.
    typealias Outcome = Word

    /// The way in which the wait of the caller has ended, with the result if a callback has come.
    enum Ending {
        case finished(Outcome)
        /// The last copy of the continuation was released, and none was resumed.
        case dropped
        /// The caller was cancelled, and has stopped waiting before the callback came.
        case left
    }

    private enum Phase: UInt8 {
        /// The API is being called, and has not returned its handle. Its callback may already come.
        case calling
        case waiting
        /// The handle is being cancelled. The result of a callback that comes meanwhile is kept until `cancelled()` is called.
        case cancelling
        case ended
        case over
    }

    private var phase = Phase.calling
    /// The handle, which cancels the call of the API; `nil` before `begin` and after the machine has returned it.
    private(set) var handle: Handle?
    /// The continuation of the waiting caller; `nil` before `park` and after the machine has returned it.
    private var waiter: Waiter?
    private var ending: Ending?

    /// The reason why the next callback is ignored, if the bridge has already ended. The first callback after a
    /// cancellation is expected; every later one is a mistake.
    private var excess = ExcessCallback.again

    // MARK: The caller

    /// Records that the API was called and has returned its handle, which cancels the call.
    ///
    /// - Returns: The result, if the callback has already come; the caller must then release the handle. `nil` if the
    ///   caller must wait.
    mutating func begin(_ handle: Handle) -> Outcome? {
        switch phase {
        case .calling:
            phase = .waiting
            self.handle = handle
            return nil
        case .ended:
            return takeOutcome()
        case .waiting, .cancelling, .over:
            preconditionFailure("The API is called once.")
        }
    }

    /// Records that the body of `withCancellableContinuation` threw an error instead of returning a handle.
    ///
    /// - Returns: The result of a callback that came before the error, and takes precedence over it; `nil` if there is none.
    mutating func fail() -> Outcome? {
        switch phase {
        case .calling:
            excess = .afterFailure
            phase = .over
            return nil
        case .ended:
            // After a cancellation, it is no mistake to drop the callback.
            let outcome = takeOutcome()
            phase = .over
            return outcome
        case .waiting, .cancelling, .over:
            preconditionFailure("The API is called once.")
        }
    }

    /// Ends the call with the result of a callback that came before the body returned or threw, and returns the result;
    /// `nil` if there is none.
    private mutating func takeOutcome() -> Outcome? {
        guard case .finished(let outcome) = ending else { return nil }
        phase = .over
        return outcome
    }

    /// Stores the continuation of the caller until the bridge ends.
    ///
    /// - Parameter waiter: The continuation.
    /// - Returns: Whether the caller must wait; `false` if the bridge has already ended.
    mutating func park(_ waiter: Waiter) -> Bool {
        switch phase {
        case .waiting, .cancelling:
            precondition(self.waiter == nil, "The caller parks once.")
            self.waiter = waiter
            return true
        case .ended:
            return false
        case .calling, .over:
            preconditionFailure("The caller parks when the API has been called.")
        }
    }

    /// Returns the way in which the bridge has ended. Called once: by the caller, after it was resumed or found that it
    /// need not wait.
    mutating func collect() -> Ending {
        guard phase == .ended, let ending else { preconditionFailure("The caller is woken at the end.") }
        phase = .over
        return ending
    }

    // MARK: Events

    struct Waking {
        /// The handle, which must be released before the waiter is resumed; `nil` if there is none.
        var handle: Handle?
        var waiter: Waiter?
    }

    enum Finishing {
        case first(Waking)
        case excess(ExcessCallback)
    }

    /// Records a callback.
    ///
    /// - Parameter outcome: The result that the callback brings.
    /// - Returns: For the first callback, the waiter to resume and the handle to release; for a later one, the reason
    ///   why it is ignored.
    mutating func finish(_ outcome: Outcome) -> Finishing {
        if let waking = end(.finished(outcome)) { return .first(waking) }
        defer { excess = .again }
        return .excess(excess)
    }

    /// Records that the API has released the last copy of the continuation, perhaps after resuming it.
    ///
    /// - Returns: The waiter to resume and the handle to release, if the release ends the bridge; otherwise an empty
    ///   value.
    mutating func drop() -> Waking { end(.dropped) ?? Waking() }

    /// Ends the bridge in the given way, unless it has already ended.
    ///
    /// - Returns: The waiter to resume and the handle to release; an empty value while the handle is being cancelled,
    ///   since `cancelled()` then returns the waiter; `nil` if the bridge had already ended.
    private mutating func end(_ ending: Ending) -> Waking? {
        switch phase {
        case .calling, .waiting:
            phase = .ended
            self.ending = ending
            defer { (handle, waiter) = (nil, nil) }
            return Waking(handle: handle, waiter: waiter)
        case .cancelling:
            guard self.ending == nil else { return nil }
            self.ending = ending
            return Waking()
        case .ended, .over:
            return nil
        }
    }

    /// Records that the caller was cancelled. May be called more than once, and after the end.
    ///
    /// - Parameter isLeaving: Whether the caller stops waiting immediately, instead of waiting for the callback.
    /// - Returns: The handle, which must be cancelled and released outside the lock, before `cancelled()` is called;
    ///   `nil` if there is nothing to cancel.
    mutating func cancel(isLeaving: Bool) -> Handle? {
        switch phase {
        case .waiting:
            guard handle != nil else { return nil }
            if isLeaving {
                excess = .afterCancellation
                ending = .left
            }
            phase = .cancelling
            defer { handle = nil }
            return handle
        case .calling:
            preconditionFailure("A cancellation is listened to when the API has been called.")
        case .cancelling, .ended, .over:
            return nil
        }
    }

    /// Records that the handle returned by `cancel(isLeaving:)` has been cancelled and released.
    ///
    /// - Returns: The waiter to resume, if the bridge has ended meanwhile; `nil` if the caller must continue to wait,
    ///   or has not parked.
    mutating func cancelled() -> Waiter? {
        precondition(phase == .cancelling, "A handle is cancelled once, when the caller has been cancelled.")
        guard ending != nil else {
            phase = .waiting
            return nil
        }
        phase = .ended
        defer { waiter = nil }
        return waiter
    }
}

/// The reason why a callback is ignored: the call of `withCancellableContinuation` already had a result.
enum ExcessCallback: Hashable, Sendable, CustomStringConvertible {
    /// Another callback had come before.
    case again
    /// The caller was cancelled and had stopped waiting. Used only for the first callback after that.
    case afterCancellation
    /// The body of `withCancellableContinuation` had thrown an error. Used only for the first callback after that.
    case afterFailure

    var description: String {
        switch self {
        case .again: "once more"
        case .afterCancellation: "after the caller was cancelled and had stopped waiting"
        case .afterFailure: "although the call had thrown"
        }
    }
}
