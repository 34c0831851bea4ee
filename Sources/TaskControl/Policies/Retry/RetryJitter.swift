/// Of which range a random delay is drawn, uniformly: see ``RetryBackoff/jittered(_:using:)``.
///
/// The formulas are those of M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. For many clients of one server
/// ``full`` costs the server least; ``equal`` is for where a minimal distance is needed.
@nonexhaustive
public enum RetryJitter: Sendable, Hashable, CaseIterable {
    /// Between zero and the delay.
    case full

    /// Between half of the delay and the delay.
    case equal

    /// Between the base and three times the last delay; at first, three times the base. What it grows by is chance: the factor of
    /// ``RetryBackoff/exponential(base:factor:)`` plays no part.
    ///
    /// The base of ``RetryBackoff/exponential(base:factor:)`` is its first delay; that of other backoffs, what they say each time. The last
    /// delay is that of this `retry` and of the backoff: without what a server's hint has added.
    ///
    /// Both ends are capped before anything is drawn. (The formula of the source caps what was drawn: at its end most delays are the cap
    /// itself, and clients come back together after all.)
    case decorrelated
}
