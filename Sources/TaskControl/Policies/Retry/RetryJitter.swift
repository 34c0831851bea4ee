/// The range from which a random delay is drawn, uniformly: see ``RetryBackoff/jittered(_:using:)``.
///
/// The formulas are those of M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. For many
/// clients of one server ``full`` costs the server least. Use ``equal`` if there must be a minimum delay.
@nonexhaustive
public enum RetryJitter: Sendable, Hashable, CaseIterable {
    /// A random delay between zero and the delay of the backoff.
    case full

    /// A random delay between half of the delay of the backoff and all of it.
    case equal

    /// A random delay between the base and three times the previous delay. The first delay is between the base and
    /// three times the base. The delay grows randomly: the factor of ``RetryBackoff/exponential(base:factor:)`` is
    /// ignored.
    ///
    /// The base of ``RetryBackoff/exponential(base:factor:)`` is its first delay. For any other backoff, the base is the
    /// delay that the backoff gives for the attempt that has just failed. The previous delay is that of the same call of
    /// `retry`; if a hint of the error (see ``RetryAdvising``) extended it, the delay before the extension counts.
    ///
    /// Both ends of the range are capped before the delay is drawn. If the drawn delay were capped instead, most delays
    /// would equal the cap after many attempts, and clients would retry at the same time.
    case decorrelated
}
