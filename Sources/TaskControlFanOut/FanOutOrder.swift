/// The order in which the results of a bounded fan-out reach their consumer.
public enum FanOutOrder: Hashable, Sendable {
    /// The order of the elements in the source: a result waits for the results of the elements before it.
    case source
    /// The order in which the operations end.
    case completion
}
