public import TaskControl
internal import TaskControlSupport

/// Records the events of all primitives, and writes them as a page for a browser or as a trace for Perfetto.
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
/// The page is one file that loads nothing else: it has lanes for lifetimes, stores, queues, flights and semaphores, and in them a bar for
/// each task or call, with the time it waited and the time it ran, its outcome, and its name, key, age and error. Write it before you end the
/// observation: subjects that have not ended are drawn up to that moment.
///
/// ## Memory and time
/// The latest ``capacity`` events are kept, about 280 bytes each in addition to their texts; texts longer than 512 bytes are clipped. The
/// 100,000 events of the default take about 28 MB, allocated as events arrive. Older events are dropped, and both outputs show how many.
///
/// Recording an event takes a lock and a copy, 0.1 to 0.2 µs: nothing is formatted or written to a file until you ask for it, and
/// recording continues meanwhile.
///
/// A trace is not a log: for one line per event, see `TaskDiagnostics.Configuration.debugLogging`.
public final class TraceRecorder: TaskObserver {
    /// The maximum number of events that are kept.
    public let capacity: Int

    private let ring: Guarded<TraceRing>

    /// Creates a recorder, for `TaskDiagnostics.observe(_:)`.
    ///
    /// - Parameter capacity: The number of latest events that are kept: 1 or more. A task has about four.
    public init(capacity: Int = 100_000) {
        guard capacity >= 1 else {
            fatalError(
                "TraceRecorder(capacity: \(capacity)): it could keep nothing. Give the number of events to keep, 1 or more."
            )
        }
        self.capacity = capacity
        ring = Guarded(TraceRing(capacity: capacity))
    }

    /// Records an event. Called by the library.
    public func receive(_ event: TaskEvent) {
        // The record is made while holding the lock, so that it is moved into the ring and not copied. Records that fall out are released
        // without the lock.
        let gone = ring.withLock { $0.append(TraceRecord(event)) }
        withExtendedLifetime(gone) {}
    }

    /// Removes all recorded events. Tasks that run at that time are treated as begun before the recording.
    public func removeAll() {
        let gone = ring.withLock { $0.removeAll() }
        withExtendedLifetime(gone) {}
    }

    /// The recorded events: one reference per chunk is copied while holding the lock.
    var events: TraceRing.Copy { ring.withLock { $0 }.latest }
}
