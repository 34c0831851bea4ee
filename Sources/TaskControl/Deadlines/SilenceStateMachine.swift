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
    /// The time since which the reader waits; `nil` while it works.
    private var waitsSince: Duration?
    /// Whether the reader has waited for the limit.
    private(set) var isSilent = false
    private var hasEnded = false
    private var watch: Word?

    init(_ limit: Duration) { self.limit = limit.saturated }

    private var isWorking: Bool { !isSilent && !hasEnded && waitsSince == nil }

    /// Records that the reader waits for an element from the time `now` on. Returns the continuation of the watch if it
    /// must be resumed.
    mutating func wait(at now: Duration) -> Word? {
        guard isWorking else { return nil }
        waitsSince = now
        return watch.take()
    }

    /// Records that the wait of the reader has ended at the time `now`.
    ///
    /// - Returns: Whether that was before the limit, so that the reader may use the element.
    mutating func receive(at now: Duration) -> Bool {
        if let waitsSince, now - waitsSince >= limit { isSilent = true }
        waitsSince = nil
        return !isSilent
    }

    /// Records that the reader has ended, also one that is silent. Returns the continuation of the watch if it must be
    /// resumed.
    mutating func end() -> Word? {
        (waitsSince, hasEnded) = (nil, true)
        return watch.take()
    }

    /// Returns the next step of the watch at the time `now`.
    mutating func step(at now: Duration) -> Step {
        if isSilent || hasEnded { return .end }
        guard let waitsSince else { return .park }
        if now < waitsSince + limit { return .sleep(until: waitsSince + limit) }
        isSilent = true
        return .cancel
    }

    /// Stores the continuation of the watch. Returns `false` if the watch must continue at once instead.
    mutating func park(_ watch: Word) -> Bool {
        if isWorking { self.watch = watch }
        return isWorking
    }
}
