/// One call of a callback API, and the caller that waits for its callback. Pure: it knows neither the value, nor how to cancel, nor how to wake.
///
///     calling ──begin──▶ waiting ──park──▶ waiting (parked)
///        │                  │                  │
///        │ finish, drop     │ finish, drop, cancel: the handle and the waiter are handed out
///        ▼                  ▼                  ▼
///        └───────────────▶ ended ◀─────────────┘
///                           │ begin, fail, collect: the caller hears of it
///                           ▼
///     calling ──fail──▶   over
///
/// The first to end it wins. The handle is handed out once: to be cancelled, or to be let go. The caller begins with the handle in its hand,
/// and its cancellation is listened to from then on: one that came before is noticed then, since a cancelled task stays cancelled.
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
        case .waiting, .over:
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
        case .waiting, .over:
            preconditionFailure("The API is called once.")
        }
    }

    /// - Returns: Whether the waiter is to wait. If not, it has ended already.
    mutating func park(_ waiter: Waiter) -> Bool {
        switch state {
        case .waiting(let handle, nil):
            state = .waiting(handle, waiter)
            return true
        case .ended:
            return false
        case .calling, .waiting, .over:
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
        /// To be let go; after a cancellation, to be cancelled.
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
        case .ended, .over:
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
        case .ended, .over:
            return Waking()
        }
    }

    /// The caller has been cancelled; perhaps more than once, and perhaps when all is over.
    ///
    /// - Parameter isLeaving: It does not wait for the callback.
    mutating func cancel(isLeaving: Bool) -> Waking {
        switch state {
        case .waiting(let handle, let waiter):
            guard isLeaving else {
                state = .waiting(nil, waiter)
                return Waking(handle: handle)
            }
            excess = .afterCancellation
            state = .ended(.left)
            return Waking(handle: handle, waiter: waiter)
        case .calling:
            preconditionFailure("A cancellation is listened to when the API has been called.")
        case .ended, .over:
            return Waking()
        }
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
