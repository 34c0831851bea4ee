@_spi(Observers) public import TaskControl
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
    ///   task has about four events. Less than 1 counts as 1.
    public init(capacity: Int = 100_000) {
        let capacity = max(1, capacity)
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

extension TraceRecorder {
    /// The format of a written trace.
    @nonexhaustive
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// A self-contained HTML page, which loads no other file and no script from the network.
        case html
        /// JSON in Chrome's trace format, for <https://ui.perfetto.dev> and `chrome://tracing`.
        case perfetto
    }

    /// Writes the recorded events to a file. Recording continues while the file is written.
    ///
    /// The file appears only when it is complete: it is written under another name in the same folder and then renamed.
    /// Therefore an existing file is replaced in one step. If the path is a symbolic link, the file that the link
    /// refers to is replaced. If the path refers to something other than a regular file, such as `/dev/stdout`, the
    /// trace is written directly to it; if it is a pipe, the call blocks until the pipe is read. If the process is
    /// killed while the call runs, a hidden file remains whose name begins with `.taskcontrol-`. The call blocks its
    /// thread for about a second per million events.
    ///
    /// - Parameters:
    ///   - format: An HTML page for a browser, or JSON for Perfetto.
    ///   - path: The path of the file. It is relative to the working directory if it does not begin with `/`.
    ///   - title: The heading of the page, or the name of the trace in Perfetto.
    /// - Throws: ``TraceRecorder/WriteError`` if the file cannot be written.
    /// - Complexity: O(*n* log *n*) in the number of events.
    public func write(_ format: Format, to path: String, title: String = "Trace") throws(WriteError) {
        let model = model
        do throws(OutputFile.SystemError) {
            let file = try OutputFile(path)
            do throws(OutputFile.SystemError) {
                try model.write(as: format, title: title) { (bytes) throws(OutputFile.SystemError) in
                    let written = bytes.withUnsafeBytes { bytes in
                        Result { () throws(OutputFile.SystemError) in try file.write(bytes) }
                    }
                    try written.get()
                }
            } catch {
                file.discard()
                throw error
            }
            try file.finish()
        } catch {
            throw WriteError(path: path, error)
        }
    }

    /// Returns the recorded events as text, for example for the response of a server.
    ///
    /// A million events take about 35 MB as a page, or 130 MB for Perfetto. To write a file, use ``write(_:to:title:)``, which does not keep the
    /// whole text in memory.
    ///
    /// - Parameters:
    ///   - format: An HTML page for a browser, or JSON for Perfetto.
    ///   - title: The heading of the page, or the name of the trace in Perfetto.
    /// - Complexity: O(*n* log *n*) in the number of events.
    public func text(as format: Format, title: String = "Trace") -> String {
        model.text(as: format, title: title)
    }

    private var model: TraceModel { TraceModel(events, now: TaskDiagnostics.eventTime) }
}

extension TraceModel {
    /// Produces the text of the trace, and passes it to a closure in parts of about 64 KB.
    ///
    /// - Parameters:
    ///   - format: An HTML page for a browser, or JSON for Perfetto.
    ///   - title: The heading of the page, or the name of the trace in Perfetto.
    ///   - sink: Receives the parts, as UTF-8.
    /// - Throws: The error of `sink`.
    func write<Failure: Error>(
        as format: TraceRecorder.Format,
        title: String,
        to sink: (borrowing [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        try withoutActuallyEscaping(sink) { (sink) throws(Failure) in
            var text = TraceText(sink)
            switch format {
            case .html: try writePage(title: title, to: &text)
            case .perfetto: try writePerfetto(title: title, to: &text)
            }
            try text.finish()
        }
    }

    func text(as format: TraceRecorder.Format, title: String) -> String {
        var bytes: [UInt8] = []
        write(as: format, title: title) { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
