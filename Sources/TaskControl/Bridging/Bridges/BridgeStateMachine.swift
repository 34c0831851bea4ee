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

    // A phase and optionals, and no enumeration with payloads: of a generic one, the compiler emits 40 KB of code that copies it.
    private enum Phase: UInt8 {
        /// The API is being called. It may call back already.
        case calling
        case waiting
        /// The handle is being cancelled. What ends the wait meanwhile is kept until that has returned.
        case cancelling
        case ended
        case over
    }

    private var phase = Phase.calling
    /// There until it is handed out.
    private var handle: Handle?
    /// There from when the caller has parked until it is handed out.
    private var waiter: Waiter?
    private var ending: Ending?

    /// What a callback is, if one comes after the end. The one that answers a cancellation may come, and is the last to be excused.
    private var excess = ExcessCallback.again

    // MARK: The caller

    /// The API has been called, and has given its handle.
    ///
    /// - Returns: What has called back already; the handle is to be let go then. `nil`: the caller is to park.
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

    /// The API could not be called.
    ///
    /// - Returns: What has called back all the same. `nil`: the failure counts.
    mutating func fail() -> Outcome? {
        switch phase {
        case .calling:
            excess = .afterFailure
            phase = .over
            return nil
        case .ended:
            // That nobody is left to call back is no surprise.
            let outcome = takeOutcome()
            phase = .over
            return outcome
        case .waiting, .cancelling, .over:
            preconditionFailure("The API is called once.")
        }
    }

    /// What called back before the API had returned.
    private mutating func takeOutcome() -> Outcome? {
        guard case .finished(let outcome) = ending else { return nil }
        phase = .over
        ending = nil
        return outcome
    }

    /// - Returns: Whether the waiter is to wait. If not, it has ended already.
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

    /// The caller goes on.
    mutating func collect() -> Ending {
        guard phase == .ended, let ending else { preconditionFailure("The caller is woken at the end.") }
        phase = .over
        self.ending = nil
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
        if let waking = end(.finished(outcome)) { return .first(waking) }
        defer { excess = .again }
        return .excess(excess)
    }

    /// The API lets go of its callback, perhaps when it has called it.
    mutating func drop() -> Waking { end(.dropped) ?? Waking() }

    /// - Returns: `nil`: it had ended before.
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

    /// The caller has been cancelled; perhaps more than once, and perhaps when all is over.
    ///
    /// - Parameter isLeaving: It does not wait for the callback.
    /// - Returns: The handle, for the caller to cancel and release, and then to report with `cancelled`.
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

    /// The handle has been cancelled and released.
    ///
    /// - Returns: The waiter, if it has ended meanwhile.
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
