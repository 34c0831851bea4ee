/// The order of the results of `concurrentMap`, which calls an operation for several elements at the same time.
public enum FanOutOrder: Hashable, Sendable {
    /// The order of the elements in the source, the sequence of the elements: a result waits for the results of the
    /// elements before it.
    case source
    /// The order in which the operations end.
    case completion
}
