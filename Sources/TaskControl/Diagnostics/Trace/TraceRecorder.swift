/// Records what happens in all primitives, and writes it as a page that a person opens, or as a trace for Perfetto.
///
/// ```swift
/// let recorder = TraceRecorder()
/// let observation = AsyncGuard.addObserver(recorder)
/// // … what is to be looked at, and then:
/// try recorder.write(.html, to: "trace.html")
/// observation.end()
/// ```
///
/// The page is one file without anything from elsewhere: lanes for lifetimes, stores, queues, flights and semaphores, in them a bar for
/// each task or call, with the time it waited and the time it ran, how it ended, and its name, key, age and error. Write it while the
/// observation goes on: what has not ended then is drawn up to that moment.
///
/// ## Memory and time
/// The latest ``capacity`` events are kept, about 280 bytes each beside their texts; texts longer than 512 bytes are cut. So the 100,000
/// events of the default are about 28 MB, taken as they come. What is older falls out, and both outputs say how many events that were.
///
/// To record is a lock and a copy, 0.1 to 0.2 µs: nothing is formatted or written to a file before somebody asks for it, and while
/// that is done, recording goes on.
///
/// It is not a log: for a line an event, as it happens, configure ``AsyncGuardConfiguration/debugLogging``.
public final class TraceRecorder: TaskObserver {
    /// How many events are kept, at most.
    public let capacity: Int

    private let ring: Locked<TraceRing>

    /// Makes a recorder, for ``AsyncGuard/addObserver(_:)``.
    ///
    /// - Parameter capacity: How many events are kept, the latest ones; a task has about four. 1 or more.
    public init(capacity: Int = 100_000) {
        insist(
            capacity >= 1,
            "TraceRecorder(capacity: \(capacity)): it could keep nothing. Give the number of events to keep, 1 or more."
        )
        self.capacity = capacity
        ring = Locked(TraceRing(capacity: capacity))
    }

    /// Keeps an event. Called by the library.
    public func receive(_ event: TaskEvent) {
        if event.isTooLong { keep(event.clipped) } else { keep(event) }
    }

    @inline(__always)
    private func keep(_ event: TaskEvent) {
        // What falls out is let go of without the lock.
        let gone = ring.withLock { $0.append(event) }
        withExtendedLifetime(gone) {}
    }

    /// Forgets what was recorded so far; what comes from now on is kept. A task that runs has begun before the recording then.
    public func removeAll() {
        let gone = ring.withLock { $0.removeAll() }
        withExtendedLifetime(gone) {}
    }

    /// What is there, as a reference a chunk. Only that is done under the lock.
    var events: TraceRing.Copy { ring.withLock { $0 }.latest }
}

extension TaskEvent {
    /// Whether a text of it is too long to be kept by the thousand.
    fileprivate var isTooLong: Bool {
        isLong(ownerName) || isLong(taskName) || isLong(key) || isLong(error) || isLong(detail)
    }

    /// Without what is too much of its texts.
    fileprivate var clipped: TaskEvent {
        var event = self
        event.ownerName = clip(ownerName)
        event.taskName = clip(taskName)
        event.key = clip(key)
        event.error = clip(error)
        event.detail = clip(detail)
        return event
    }

    private static var textLimit: Int { 512 }

    @inline(__always)
    private func isLong(_ text: String?) -> Bool {
        guard let text else { return false }
        return text.utf8.count > Self.textLimit
    }

    private func clip(_ text: String?) -> String? {
        guard let text, isLong(text) else { return text }
        // A copy, and not a slice: that would keep the whole. A character that is cut in two shows as one that is missing.
        return String(decoding: text.utf8.prefix(Self.textLimit), as: UTF8.self) + "…"
    }
}
