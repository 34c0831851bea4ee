/// The number of runs of ``runOnce(_:for:in:guarantee:timeToLive:holder:clock:body:)`` if a run does not come to its
/// end, for example because its process crashes. No lease can make it exactly one.
@nonexhaustive
public enum RunGuarantee: Hashable, Sendable, CaseIterable {
    /// The run is recorded after its body. A run that crashes, throws, or loses its lease is repeated by the next
    /// caller, so the body must be safe to repeat: for example, it replaces the report of the period.
    case atLeastOnce
    /// The run is recorded before its body. A run that crashes, throws, or loses its lease is not repeated: for a body
    /// that must not run twice, such as one that sends mail, and that may be left out.
    case atMostOnce
}
