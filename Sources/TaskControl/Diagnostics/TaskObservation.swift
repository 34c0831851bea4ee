/// The registration of an observer. It lasts until ``end()``, whether or not this value is kept: the library keeps the observer alive.
public struct TaskObservation: Hashable, Sendable {
    let number: UInt64

    /// Ends the observation and releases the observer. A second call does nothing.
    ///
    /// Events that happen after this call has returned are not reported to the observer. An event that happens during this call on another
    /// thread may still be, a moment later. That thread then releases the observer, and if it has the last reference, the observer is
    /// deallocated there.
    public func end() {
        Observation.remove(number)
    }
}
