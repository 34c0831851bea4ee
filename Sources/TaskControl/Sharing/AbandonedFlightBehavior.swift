/// The rule for the work of a ``SingleFlight`` when its last caller has left.
@nonexhaustive
public enum AbandonedFlightBehavior: Hashable, Sendable {
    /// The work is cancelled.
    case cancel

    /// The work continues to its end, and later callers join it. For work whose result is of use without a caller, such as filling a cache. If no
    /// caller is left to receive an error, the error is reported to diagnostics.
    case finish
}
