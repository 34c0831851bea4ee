/// Decides when a reader has waited too long for an element. Pure: a value without a lock, task, clock or closure.
///
///     working ──wait──▶ waiting ──limit──▶ silent
///        ▲                 │
///        └────receive──────┘
///
/// The reader reports when it begins to wait, and when it has received an element or the end of its sequence. A second
/// task, the watch, sleeps until the limit of the current wait, and parks while the reader does not wait.
///
/// Times are durations since the creation of the stopwatch.
struct SilenceStateMachine {
    private enum Reader {
        case working
        case waiting(since: Duration)
        case silent, ended
    }

    /// The next step of the watch.
    enum Step: Hashable {
        case sleep(until: Duration)
        /// Park until the reader waits or has ended.
        case park
        /// Cancel the reader, which has waited for the limit.
        case cancel
        case end
    }

    private let limit: Duration
    private var reader = Reader.working
    private var watch: Word?

    init(_ limit: Duration) { self.limit = limit.saturated }

    /// Whether the reader has waited for the limit.
    var isSilent: Bool { if case .silent = reader { true } else { false } }

    /// Records that the reader waits for an element from the time `now` on. Returns the continuation of the watch if it
    /// must be resumed.
    mutating func wait(at now: Duration) -> Word? {
        guard case .working = reader else { return nil }
        reader = .waiting(since: now)
        return watch.take()
    }

    /// Records that the wait of the reader has ended at the time `now`.
    ///
    /// - Returns: Whether that was before the limit, so that the reader may use the element.
    mutating func receive(at now: Duration) -> Bool {
        guard case .waiting(let since) = reader else { return !isSilent }
        reader = now - since < limit ? .working : .silent
        return !isSilent
    }

    /// Records that the reader has ended, also one that is silent. Returns the continuation of the watch if it must be
    /// resumed.
    mutating func end() -> Word? {
        if !isSilent { reader = .ended }
        return watch.take()
    }

    /// Returns the next step of the watch at the time `now`.
    mutating func step(at now: Duration) -> Step {
        switch reader {
        case .working: return .park
        case .silent, .ended: return .end
        case .waiting(let since):
            let end = since + limit
            if now < end { return .sleep(until: end) }
            reader = .silent
            return .cancel
        }
    }

    /// Stores the continuation of the watch. Returns `false` if the watch must continue at once instead.
    mutating func park(_ watch: Word) -> Bool {
        guard case .working = reader else { return false }
        self.watch = watch
        return true
    }

    /// Records that the clock of the watch cannot sleep. Returns whether the watch must cancel the reader.
    mutating func fail() -> Bool {
        switch reader {
        case .working, .waiting:
            reader = .ended
            return true
        case .silent, .ended: return false
        }
    }
}
