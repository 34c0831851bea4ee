/// The way in which a wait has ended.
package enum WaitOutcome: Sendable {
    /// The event that the waiter waited for has happened.
    case reached
    /// The waiter was cancelled, and no longer waits.
    case left
}
