/// How a wait ends.
package enum WaitOutcome: Sendable {
    /// The event that the waiter waited for has happened.
    case reached
    /// The waiter was cancelled, and has left.
    case left
}
