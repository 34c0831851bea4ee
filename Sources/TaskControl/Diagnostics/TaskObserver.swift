/// Receives the events of all primitives of this library.
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
    /// Receives an event. Called without a lock of the library, so an observer may call this library.
    ///
    /// Called on the thread and in the task of the event, after the effects of what happened: an observer delays that task, and neither the
    /// next task of a queue nor another caller of a flight. There are three exceptions:
    /// - An event that a handler of the runtime causes, such as a cancellation handler, is delivered outside the handler, on a thread of
    ///   the library.
    /// - An event about a subject whose beginning has not been delivered yet is delivered after that, on the thread and in the task that
    ///   delivers the beginning; ``TaskEvent/task`` names the task of the event.
    /// - The start of a turn, or of work that holds permits, is an event of that work, which delays what waits for it.
    ///
    /// Events that this call causes on its own thread are not delivered to the same observer, only to the others. Events of a task that was started
    /// in this call are delivered: an observer that starts tasks of this library must ignore the events of those tasks, or it never ends.
    func receive(_ event: TaskEvent)
}
