/// A receiver of the events of all types and functions of this library.
///
/// ```swift
/// import Synchronization
///
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
    /// Called on the thread and in the task in which the event happened, after what happened has taken effect: a slow
    /// observer delays that task, but not the next task of a queue or the other callers of a ``SingleFlight``. In three
    /// cases, the delivery is different:
    /// - An event that happens in a cancellation or escalation handler of this library is delivered outside the
    ///   handler, on a thread of the library. If a handler of yours calls this library, its events are delivered inside
    ///   that handler: an observer must not wait there, nor resume, cancel or escalate a task.
    /// - An event about a subject (a task or a call) whose first event has not been delivered yet is delivered after
    ///   that first event, usually on the thread and in the task of the first event. ``TaskEvent/task`` still
    ///   identifies the task in which the event happened.
    /// - The event that reports the start of a queue's task, or of work that holds permits, is delivered before the
    ///   work runs, in the same task: a slow observer also delays the tasks that wait for the end of that work.
    ///
    /// Events that this call causes on its own thread are delivered only to the other observers. Events of a task that
    /// was started in this call are delivered to this observer too: an observer that starts tasks of this library must
    /// ignore the events of those tasks; otherwise it starts tasks without end.
    func receive(_ event: TaskEvent)
}
