/// Is told what happens in all primitives of this library.
///
/// ```swift
/// final class FailureCount: TaskObserver {
///     private let failures = Mutex(0)
///
///     func receive(_ event: TaskEvent) {
///         if event.kind == .failed { failures.withLock { $0 += 1 } }
///     }
/// }
///
/// let observation = AsyncGuard.addObserver(FailureCount())
/// // … and when it has seen enough:
/// observation.end()
/// ```
public protocol TaskObserver: Sendable {
    /// Called on the thread where it happens, when it happens, with no lock of the library held: it may call this library here, and whatever it
    /// does delays the task that the event is about. Events that a cancellation handler of this library causes are emitted outside the
    /// handler, on a thread of the library.
    ///
    /// It is not told what it causes itself: neither what happens within this call, nor what a task does that this library made in it, as
    /// one of a queue or a bag, and whatever stems from that. Other observers are. So an observer that starts tasks, cancels or enqueues
    /// does not hear its own echo. But a `Task { }` does not know that an observer made it: what that calls of this library is told.
    func receive(_ event: TaskEvent)
}

/// That an observer is told of events. It goes on until ``end()``, whether or not somebody keeps this: it does not keep the observer alive,
/// the library does.
public struct TaskObservation: Hashable, Sendable {
    let number: UInt64

    /// Ends the observation and releases the observer. A second call does nothing.
    ///
    /// Events that happen after this call has returned are not reported to the observer. An event that happens during this call on another
    /// thread may still be, a moment later. That thread then releases the observer, and if it has the last reference, the observer is
    /// deallocated there.
    public func end() {
        Diagnostics.removeObserver(number)
    }
}
