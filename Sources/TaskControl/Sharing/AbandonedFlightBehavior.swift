/// The rule for the work of a ``SingleFlight`` when its last caller has stopped waiting.
@nonexhaustive
public enum AbandonedFlightBehavior: Hashable, Sendable {
    /// The work is cancelled when its last caller has stopped waiting.
    case cancel

    /// The work continues to its end, and later callers join it. Use this rule for work whose result is useful without
    /// a caller, such as filling a cache. If no caller is left to receive an error, the error is reported to
    /// diagnostics.
    case finish
}
