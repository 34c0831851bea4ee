public import TaskControl
internal import _TaskControlShared

/// An observer that records the diagnostic events of TaskControl, and writes them as an HTML page or as a trace for Perfetto.
///
/// ```swift
/// import TaskControl
/// import TaskControlTrace
///
/// let recorder = TraceRecorder()
/// let observation = TaskDiagnostics.observe(recorder)
/// // … run what you want to see, and then:
/// try recorder.write(.html, to: "trace.html")
/// observation.end()
/// ```
///
/// The page is a single file that loads no other. It has a group of rows for each object of TaskControl, such as an
/// `AsyncLifetime`, a `TaskStore`, a queue, a `SingleFlight` or a semaphore. The rows contain a bar for each task or
/// call of the object, with the time for which it waited and ran, its outcome, name, key, age and error. Write the page
/// before you end the observation: tasks and calls that have not ended are then drawn up to the current time.
///
/// ## Memory and time
/// The recorder keeps the latest ``capacity`` events. Each takes about 280 bytes in addition to its texts, which are
/// shortened to 512 bytes. The default of 100,000 events takes about 28 MB plus the texts, allocated as events arrive.
/// Older events are removed, and both formats show how many.
///
/// Recording an event takes 0.1 to 0.2 µs: it acquires a lock and copies the event. Formatting and writing happen only when you call
/// ``write(_:to:title:)`` or ``text(as:title:)``, and recording continues meanwhile.
///
/// To log one line per event instead, use `TaskDiagnostics.Configuration.debugLogging`.
public final class TraceRecorder: TaskObserver {
    /// The maximum number of events that are kept.
    public let capacity: Int

    private let ring: Guarded<TraceRing>

    /// Creates a recorder. Pass it to `TaskDiagnostics.observe(_:)`.
    ///
    /// - Parameter capacity: The maximum number of events that are kept: when there are more, the oldest are removed. A
    ///   task has about four events. Traps if `capacity` is less than 1.
    public init(capacity: Int = 100_000) {
        guard capacity >= 1 else {
            fatalError(
                "TraceRecorder(capacity: \(capacity)): no event could be kept. Give the number of events to keep, 1 or more."
            )
        }
        self.capacity = capacity
        ring = Guarded(TraceRing(capacity: capacity))
    }

    /// Records an event. Called by TaskControl.
    public func receive(_ event: TaskEvent) {
        // The record is made while holding the lock, so that it is moved into the ring and not copied. Records that the
        // ring drops are released without the lock.
        let gone = ring.withLock { $0.append(TraceRecord(event)) }
        withExtendedLifetime(gone) {}
    }

    /// Removes all recorded events. If a task that exists now has further events, traces that are written later show it
    /// as a task that began before the recording.
    public func removeAll() {
        let gone = ring.withLock { $0.removeAll() }
        withExtendedLifetime(gone) {}
    }

    /// The recorded events, at most the latest ``capacity``. While the lock is held, only one reference per chunk of
    /// events (see ``TraceRing``) is copied.
    var events: TraceRing.Copy { ring.withLock { $0 }.latest }
}
