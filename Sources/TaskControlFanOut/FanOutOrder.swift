/// The order of the results of `concurrentMap`, which calls an operation for several elements at the same time.
public enum FanOutOrder: Hashable, Sendable {
    /// The order of the source, which is the sequence that `concurrentMap` is called on: a result waits for the results
    /// of the elements before it.
    case source
    /// The order in which the operations end.
    case completion
}
