/// A receiver of the events of all types and functions of this library.
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
/// let observation = TaskDiagnostics.observe(FailureCount())
/// // … and when it has seen enough:
/// observation.end()
/// ```
public protocol TaskObserver: Sendable {
    /// Receives an event. Called while the library holds no lock, so an observer may call this library.
    ///
    /// Called on the thread and in the task of the event, after the effects of what happened: an observer delays that
    /// task, but not the next task of a queue or the other callers of a ``SingleFlight``. There are three exceptions:
    /// - An event that a handler of the runtime causes, such as a cancellation handler, is delivered outside the handler, on a thread of
    ///   the library.
    /// - An event about a subject whose beginning has not been delivered yet is delivered after the beginning, on the same thread and in the same
    ///   task; ``TaskEvent/task`` names the task of the event.
    /// - The start of a task of a queue, or of work that holds permits, is delivered in the task of that work: an
    ///   observer also delays the tasks that wait for the work.
    ///
    /// Events that this call causes on its own thread are delivered only to the other observers. Events of a task that was started in this call are
    /// delivered: an observer that starts tasks of this library must ignore the events of those tasks, or it never ends.
    func receive(_ event: TaskEvent)
}
