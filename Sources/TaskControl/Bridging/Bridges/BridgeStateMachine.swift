/// One call of a callback API, and the caller that waits for its callback. Pure: it knows neither the value, nor how to cancel, nor how to wake.
///
///     calling ──begin──▶ waiting ──park──▶ waiting (parked) ──cancel──▶ cancelling
///        │                  │                  │                           │
///        │ finish, drop     │ finish, drop: the handle and the waiter      │ cancelled: the waiter is handed out,
///        ▼                  ▼               are handed out                 ▼          if it has ended
///        └───────────────▶ ended ◀─────────────┴───────────────────────────┴──▶ waiting (without a handle)
///                           │ begin, fail, collect: the caller hears of it
///                           ▼
///     calling ──fail──▶   over
///
/// The first to end it wins. The handle is handed out once: to be cancelled, or to be released. While it is being cancelled the caller is not
/// resumed, so the handle is always released before the caller goes on. The caller begins with the handle in its hand, and its cancellation
/// is listened to from then on: one that came before is noticed then, since a cancelled task stays cancelled.
struct BridgeStateMachine<Handle, Waiter, Outcome> {
    /// What the caller is to hear.
    enum Ending {
        case finished(Outcome)
        /// Nobody is left who could call back.
        case dropped
        /// The caller was cancelled, and does not wait for more.
        case left
    }

    private enum State {
        /// The API is being called. It may call back already.
        case calling
        /// No handle: it has been cancelled. No waiter: it has not parked yet.
        case waiting(Handle?, Waiter?)
        /// The handle is being cancelled. What ends the wait meanwhile is kept until that has returned.
        case cancelling(Waiter?, Ending?)
        case ended(Ending)
        case over
    }

    private var state = State.calling

    /// What a callback is, if one comes after the end. The one that answers a cancellation may come, and is the last to be excused.
    private var excess = ExcessCallback.again

    // MARK: The caller

    /// The API has been called, and has given its handle.
    ///
    /// - Returns: What has called back already; the handle is to be let go then. `nil`: the caller is to park.
    mutating func begin(_ handle: Handle) -> Outcome? {
        switch state {
        case .calling:
            state = .waiting(handle, nil)
            return nil
        case .ended(.finished(let outcome)):
            state = .over
            return outcome
        case .ended:
            return nil
        case .waiting, .cancelling, .over:
            preconditionFailure("The API is called once.")
        }
    }

    /// The API could not be called.
    ///
    /// - Returns: What has called back all the same. `nil`: the failure counts.
    mutating func fail() -> Outcome? {
        switch state {
        case .calling:
            excess = .afterFailure
            state = .over
            return nil
        case .ended(.finished(let outcome)):
            state = .over
            return outcome
        case .ended:
            // That nobody is left to call back is no surprise.
            state = .over
            return nil
        case .waiting, .cancelling, .over:
            preconditionFailure("The API is called once.")
        }
    }

    /// - Returns: Whether the waiter is to wait. If not, it has ended already.
    mutating func park(_ waiter: Waiter) -> Bool {
        switch state {
        case .waiting(let handle, nil):
            state = .waiting(handle, waiter)
            return true
        case .cancelling(nil, let ending):
            state = .cancelling(waiter, ending)
            return true
        case .ended:
            return false
        case .calling, .waiting, .cancelling, .over:
            preconditionFailure("The caller parks once, when the API has been called.")
        }
    }

    /// The caller goes on.
    mutating func collect() -> Ending {
        guard case .ended(let ending) = state else { preconditionFailure("The caller is woken at the end.") }
        state = .over
        return ending
    }

    // MARK: What happens to it

    struct Waking {
        /// To be released, before the waiter is resumed.
        var handle: Handle?
        var waiter: Waiter?
    }

    enum Finishing {
        case first(Waking)
        case excess(ExcessCallback)
    }

    /// The API calls back.
    mutating func finish(_ outcome: Outcome) -> Finishing {
        switch state {
        case .calling:
            state = .ended(.finished(outcome))
            return .first(Waking())
        case .waiting(let handle, let waiter):
            state = .ended(.finished(outcome))
            return .first(Waking(handle: handle, waiter: waiter))
        case .cancelling(let waiter, nil):
            state = .cancelling(waiter, .finished(outcome))
            return .first(Waking())
        case .cancelling, .ended, .over:
            defer { excess = .again }
            return .excess(excess)
        }
    }

    /// The API lets go of its callback, perhaps when it has called it.
    mutating func drop() -> Waking {
        switch state {
        case .calling:
            state = .ended(.dropped)
            return Waking()
        case .waiting(let handle, let waiter):
            state = .ended(.dropped)
            return Waking(handle: handle, waiter: waiter)
        case .cancelling(let waiter, nil):
            state = .cancelling(waiter, .dropped)
            return Waking()
        case .cancelling, .ended, .over:
            return Waking()
        }
    }

    /// The caller has been cancelled; perhaps more than once, and perhaps when all is over.
    ///
    /// - Parameter isLeaving: It does not wait for the callback.
    /// - Returns: The handle, for the caller to cancel and release, and then to report with `cancelled`.
    mutating func cancel(isLeaving: Bool) -> Handle? {
        switch state {
        case .waiting(let handle?, let waiter):
            if isLeaving { excess = .afterCancellation }
            state = .cancelling(waiter, isLeaving ? .left : nil)
            return handle
        case .calling:
            preconditionFailure("A cancellation is listened to when the API has been called.")
        case .waiting, .cancelling, .ended, .over:
            return nil
        }
    }

    /// The handle has been cancelled and released.
    ///
    /// - Returns: The waiter, if it has ended meanwhile.
    mutating func cancelled() -> Waiter? {
        guard case .cancelling(let waiter, let ending) = state else {
            preconditionFailure("A handle is cancelled once, when the caller has been cancelled.")
        }
        guard let ending else {
            state = .waiting(nil, waiter)
            return nil
        }
        state = .ended(ending)
        return waiter
    }
}

/// What a callback is that comes after the end.
enum ExcessCallback: Hashable, Sendable, CustomStringConvertible {
    /// The wait had a result.
    case again
    /// The first to come since the caller left.
    case afterCancellation
    /// The first to come since the call failed.
    case afterFailure

    var description: String {
        switch self {
        case .again: "once more"
        case .afterCancellation: "after the caller was cancelled and had left"
        case .afterFailure: "although the call had thrown"
        }
    }
}
