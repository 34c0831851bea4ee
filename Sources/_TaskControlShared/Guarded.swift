internal import TaskControl

/// State that is only accessed while holding a lock, for modules that cannot use the internal lock of `TaskControl`.
///
/// A copy refers to the same state. Never call a callback, or other code of the program, in the closure of
/// ``withLock(_:)``: return the needed values from the closure, and make the call after ``withLock(_:)`` has returned.
public struct Guarded<State>: Sendable {
    private let state: Locked<State>

    /// Creates a lock around an initial state.
    public init(_ state: sending State) {
        self.state = Locked(state)
    }

    /// Runs a closure with exclusive access to the state, and returns the closure's result. Must not be called inside
    /// `body`: such a call traps in debug builds, and waits forever or ends the process in release builds.
    public func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock(body)
    }
}
