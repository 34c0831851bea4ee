/// The range from which a random delay is drawn, uniformly: see ``RetryBackoff/jittered(_:using:)``.
///
/// The formulas are those of M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. For many clients of one server
/// ``full`` costs the server least. Use ``equal`` if there must be a minimum delay.
@nonexhaustive
public enum RetryJitter: Sendable, Hashable, CaseIterable {
    /// A random delay between zero and the delay of the backoff.
    case full

    /// A random delay between half of the delay of the backoff and all of it.
    case equal

    /// A random delay between the base and three times the last delay; at first, three times the base. It grows randomly: the factor of
    /// ``RetryBackoff/exponential(base:factor:)`` is ignored.
    ///
    /// The base of ``RetryBackoff/exponential(base:factor:)`` is its first delay; the base of another backoff is its delay of the moment. The last
    /// delay is that of this `retry` and of the backoff: without what a server's hint has added.
    ///
    /// Both ends are capped before anything is drawn. (The formula of the source caps what was drawn: at its end most delays are the cap
    /// itself, and clients come back together after all.)
    case decorrelated
}
