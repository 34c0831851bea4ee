/// One call of a callback API, and the caller that waits for its callback. Pure: it knows neither the value, nor how to cancel, nor how to wake.
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
/// The first event that ends the bridge wins. The handle is returned once: to be cancelled, or to be released. While it is being cancelled the
/// caller is not resumed, so the handle is always released before the caller continues. The caller begins with the handle in its hand, and its
/// cancellation is listened to from then on: an earlier cancellation is noticed then, since a cancelled task stays cancelled.
struct BridgeStateMachine<Handle, Waiter, Outcome> {
    /// The result for the caller.
    enum Ending {
        case finished(Outcome)
        /// No copy of the callback is left.
        case dropped
        /// The caller was cancelled, and does not wait for more.
        case left
    }

    // A phase and optionals, and no enumeration with payloads: of a generic one, the compiler emits 40 KB of code that copies it.
    private enum Phase: UInt8 {
        /// The API is being called. It may call back already.
        case calling
        case waiting
        /// The handle is being cancelled. A result that comes meanwhile is kept until `cancel()` has returned.
        case cancelling
        case ended
        case over
    }

    private var phase = Phase.calling
    /// Present until it is returned.
    private var handle: Handle?
    /// Present from when the caller has parked until it is returned.
    private var waiter: Waiter?
    private var ending: Ending?

    /// The meaning of a callback after the end. The first callback after a cancellation is expected; every later one is a mistake.
    private var excess = ExcessCallback.again

    // MARK: The caller

    /// The API has been called, and has returned its handle.
    ///
    /// - Returns: The result of a callback that has come already; the caller must release the handle then. `nil`: the caller must park.
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
    /// - Returns: The result of a callback that has come all the same. `nil`: the failure counts.
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

    /// The result of a callback that came before the API had returned.
    private mutating func takeOutcome() -> Outcome? {
        guard case .finished(let outcome) = ending else { return nil }
        phase = .over
        ending = nil
        return outcome
    }

    /// - Returns: Whether the waiter must wait. If not, the bridge has ended already.
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

    /// The caller continues.
    mutating func collect() -> Ending {
        guard phase == .ended, let ending else { preconditionFailure("The caller is woken at the end.") }
        phase = .over
        self.ending = nil
        return ending
    }

    // MARK: What happens to it

    struct Waking {
        /// The handle to release before the waiter is resumed.
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

    /// The API releases its callback, perhaps after it has called it.
    mutating func drop() -> Waking { end(.dropped) ?? Waking() }

    /// - Returns: `nil`: the bridge had ended before.
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

    /// The caller has been cancelled; perhaps more than once, and perhaps after the end.
    ///
    /// - Parameter isLeaving: Whether the caller does not wait for the callback.
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

/// The meaning of a callback that comes after the end.
enum ExcessCallback: Hashable, Sendable, CustomStringConvertible {
    /// The callback came after the wait had a result.
    case again
    /// The first callback since the caller left.
    case afterCancellation
    /// The first callback since the call failed.
    case afterFailure

    var description: String {
        switch self {
        case .again: "once more"
        case .afterCancellation: "after the caller was cancelled and had left"
        case .afterFailure: "although the call had thrown"
        }
    }
}
