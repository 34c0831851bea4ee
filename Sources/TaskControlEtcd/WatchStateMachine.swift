internal import TaskControl
internal import TaskControlFleet

/// The state of the connection that all watchers of an ``EtcdStore`` share: the watchers, the last changes, and the decision when the connection is
/// made again.
///
/// ```
///  run          idle ── add ─▶ pausing ── connect ─▶ connecting ── opened ─▶ open
///                ▲                ▲                        │                  │
///                │                └───────── ended ────────┴──────────────────┘
///                └── remove (the last one), ended (for good)
///  watcher      added ── opened ─▶ begun ── report … report ─▶ removed
/// ```
///
/// - A run is the time from the first watcher to the removal of the last one. A run has one connection at a time. A waiter is the continuation of a
///   suspended task.
/// - A watcher has a position: the revision up to which it has received all changes. All watchers read from one common history, so that a slow
///   watcher needs no buffer of its own. If the history no longer contains the changes after a watcher's position, the watcher receives a report that
///   is marked as incomplete.
/// - If a new watcher needs changes from before the history, the connection is made again from that revision. The other watchers ignore the changes
///   that they have already received.
/// - A new connection begins after the last change of the history. A connection that receives no message, although entries have changed, is made
///   again.
struct WatchStateMachine {
    /// The identity of a watcher. An ID is never reused.
    struct ID: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// A command that the caller of the state machine must carry out.
    enum Command: Hashable {
        /// Begins a run (the time from the first watcher to the removal of the last one) with the given number: the connections that ``connect(_:)``
        /// returns for this number must be made, one after another, until it returns `nil`.
        case run(Int)
        /// Ends the run with the given number: its connection must end, and no further connection must be made.
        case stop(Int)
    }

    /// The result of an event: the waiters (continuations) to resume, and a command, if any.
    struct Action {
        /// The waiters (continuations) to resume.
        var wake: [Word] = []
        var command: Command?
    }

    /// The answer to a request of a watcher for its next report.
    enum Answer: Hashable {
        case report(StoreChanges)
        case wait
        case failure(StoreError)
        /// The watcher was cancelled.
        case left
    }

    /// A connection to begin: its number, and the revision after which it reports changes.
    struct Connection: Hashable {
        let number: Int
        /// The revision after which the connection reports changes.
        let revision: Int64
    }

    /// The answer to ``WatchStateMachine/tick(_:)``: the action to take for a connection that was given time to open or
    /// to receive a message.
    enum Silence: Hashable {
        /// The connection needs no action.
        case fine
        /// The connection has received no message since the previous ``tick(_:)``. Compare the current entries of the
        /// store with those at this revision, and call ``verified(_:of:)`` if they differ.
        case verify(Int64)
        /// The connection did not open in time: end it.
        case end
    }

    /// The decision that follows the end of a connection.
    enum Next: Hashable {
        /// A new connection must be made.
        ///
        /// - Parameters:
        ///   - failures: The number of consecutive connections that have failed; 0 if the state machine ended the connection intentionally.
        ///   - elsewhere: Whether to use another endpoint.
        case again(failures: Int, elsewhere: Bool)
        /// No further connection must be made.
        case over
    }

    private struct Watcher {
        let range: StoreRange
        var position: Int64
        var hasBegun = false
        /// Whether the watcher needs changes that are older than the history, and waits for a connection that begins at the watcher's position.
        var isCatchingUp: Bool
        var failure: StoreError?
        var isLeaving = false
        var waiter: Word?
    }

    private enum Phase { case idle, pausing, connecting, open }

    private enum Closing { case none, forOlder, forSilence, afterLoss, asFailure }

    private var phase = Phase.idle
    private var run = 0
    private var connection = 0
    private var closing = Closing.none
    /// The closer of the connection: the continuation of the code that waits until the state machine decides to end the
    /// connection, and then ends it. `nil` if no such code waits.
    private var closer: Word?
    /// The number of consecutive connections of the run that have failed.
    private var failures = 0
    /// Whether the connection has received a message since the last ``tick(_:)``.
    private var hasHeard = false
    /// The revision of the store when a connection without messages was last replaced: such a connection is not replaced again before a later
    /// revision.
    private var settled: Int64 = 0
    private var history: WatchHistory
    private var watchers: [ID: Watcher] = [:]
    private var nextNumber = 0

    /// Creates a state machine without watchers.
    ///
    /// - Parameter history: An empty history, which determines the limits.
    init(history: WatchHistory = WatchHistory(after: 0)) { self.history = history }

    /// The number of watchers.
    var count: Int { watchers.count }

    // MARK: Watchers

    /// Adds a watcher of the changes of a range after a revision. Returns the watcher's ID, and the action that the
    /// caller must carry out.
    mutating func add(_ range: StoreRange, after revision: Int64) -> (ID, Action) {
        let revision = max(0, revision)
        let id = ID(number: nextNumber)
        nextNumber += 1
        var watcher = Watcher(range: range, position: revision, isCatchingUp: false)
        if phase == .idle {
            history = history.emptied(after: revision)
            (run, phase) = (run + 1, .pausing)
            watchers[id] = watcher
            return (id, Action(command: .run(run)))
        }
        watcher.isCatchingUp = revision < history.start
        watchers[id] = watcher
        return (id, watcher.isCatchingUp && phase == .open ? close(.forOlder) : Action())
    }

    /// Returns the next report of a watcher, or the reason for which there is none.
    ///
    /// - Complexity: O(*n*) in the number of changes since the watcher's last report.
    mutating func next(_ id: ID) -> Answer {
        guard var watcher = watchers[id], !watcher.isLeaving else { return .left }
        defer { watchers[id] = watcher }
        if let failure = watcher.failure { return .failure(failure) }
        if !watcher.hasBegun {
            guard phase == .open, !watcher.isCatchingUp else { return .wait }
            watcher.hasBegun = true
            return .report(StoreChanges([], revision: watcher.position))
        }
        // A connection that begins at the watcher's position will be made.
        if watcher.isCatchingUp { return .wait }
        if watcher.position < history.start {
            watcher.position = history.end
            return .report(StoreChanges([], revision: history.end, isComplete: false))
        }
        let changes = history.changes(after: watcher.position)
            .filter { watcher.range.contains($0.key) }
            .map(\.change)
        watcher.position = max(watcher.position, history.end)
        return changes.isEmpty ? .wait : .report(StoreChanges(changes, revision: watcher.position))
    }

    /// Stores the waiter (the continuation) of a watcher for which ``next(_:)`` has returned ``Answer/wait``.
    ///
    /// - Returns: `nil` if the waiter was stored. Otherwise the given waiter: a report has become available, and the watcher must call ``next(_:)``
    ///   at once.
    mutating func park(_ id: ID, _ waiter: Word) -> Word? {
        guard watchers[id] != nil, !isReady(id) else { return waiter }
        watchers[id]?.waiter = waiter
        return nil
    }

    /// Marks a watcher as cancelled.
    ///
    /// - Returns: The watcher's waiter (its continuation), which the caller must resume; `nil` if the watcher is not suspended.
    mutating func leave(_ id: ID) -> Word? {
        watchers[id]?.isLeaving = true
        return watchers[id]?.waiter.take()
    }

    /// Removes a watcher. When the last watcher is removed, the connection ends. Returns the action that the caller
    /// must carry out.
    mutating func remove(_ id: ID) -> Action {
        watchers[id] = nil
        guard phase != .idle, watchers.values.allSatisfy({ $0.failure != nil }) else { return Action() }
        return Action(wake: endRun(), command: .stop(run))
    }

    private mutating func endRun() -> [Word] {
        (failures, settled, phase) = (0, 0, .idle)
        connection += 1
        history = history.emptied(after: 0)
        return closer.take().map { [$0] } ?? []
    }

    /// Returns whether a report for a watcher is available. Moves the watcher's position past changes of other ranges.
    private mutating func isReady(_ id: ID) -> Bool {
        guard let watcher = watchers[id] else { return false }
        if watcher.isLeaving || watcher.failure != nil { return true }
        if !watcher.hasBegun { return phase == .open && !watcher.isCatchingUp }
        if watcher.isCatchingUp { return false }
        if watcher.position < history.start { return true }
        if history.changes(after: watcher.position).contains(where: { watcher.range.contains($0.key) }) { return true }
        watchers[id]?.position = max(watcher.position, history.end)
        return false
    }

    /// Removes and returns the waiters (continuations) for which a report is available, in the order in which their watchers were added.
    private mutating func takeReady() -> [Word] {
        let parked = watchers.filter { $0.value.waiter != nil }.keys.sorted { $0.number < $1.number }
        return parked.compactMap { id in isReady(id) ? watchers[id]?.waiter.take() : nil }
    }

    // MARK: Connections

    /// Begins the next connection of the run with this number. A run is the time from the first watcher to the removal
    /// of the last one.
    ///
    /// - Returns: The connection to make; `nil` if the run has ended.
    mutating func connect(_ run: Int) -> Connection? {
        guard run == self.run, phase == .pausing else { return nil }
        let oldest = watchers.values.filter { $0.isCatchingUp && $0.failure == nil }.map(\.position).min()
        if let oldest, oldest < history.start { history = history.emptied(after: oldest) }
        for id in watchers.keys { watchers[id]?.isCatchingUp = false }
        (phase, closing, hasHeard) = (.connecting, .none, false)
        connection += 1
        return Connection(number: connection, revision: history.end)
    }

    /// Notes that the server has created the watch of the connection with this number. Returns the action that the
    /// caller must carry out.
    mutating func opened(_ number: Int) -> Action {
        guard number == connection, phase == .connecting else { return Action() }
        (phase, hasHeard) = (.open, true)
        var action = Action(wake: takeReady())
        if watchers.values.contains(where: \.isCatchingUp) { action.wake += close(.forOlder).wake }
        return action
    }

    /// Returns whether the connection with a number is current and watches: the server has created its watch, and the
    /// connection has not ended.
    func isOpen(_ number: Int) -> Bool { number == connection && phase == .open }

    /// Adds the changes that the connection with a number has received to the history of the latest changes
    /// (``WatchHistory``). The array must contain all changes of each of its revisions. Returns the action that the
    /// caller must carry out.
    mutating func receive(_ changes: [WatchHistory.Change], of number: Int) -> Action {
        guard number == connection, phase == .open else { return Action() }
        (hasHeard, failures) = (true, 0)
        return history.append(changes) ? Action(wake: takeReady()) : Action()
    }

    /// Notes that the connection with this number has received a message without changes.
    mutating func receiveProgress(of number: Int) {
        if number == connection, phase == .open { hasHeard = true }
    }

    /// Notes that the connection with a number cannot receive the changes up to a revision, because the store has
    /// removed (compacted) them or their message is too long. All watchers that need these changes receive an
    /// incomplete report. Returns the action that the caller must carry out.
    mutating func lost(upTo revision: Int64, of number: Int) -> Action {
        guard number == connection, phase == .open || phase == .connecting else { return Action() }
        // The connection has asked only for later revisions: the server contradicts itself.
        guard revision > history.end else { return close(.asFailure) }
        // The next connection does not ask for the changes of this revision: before 3.4.36, etcd can lose a removal at the revision of the
        // compaction.
        history = history.emptied(after: revision)
        for id in watchers.keys { watchers[id]?.isCatchingUp = false }
        var action = Action(wake: takeReady())
        action.wake += close(.afterLoss).wake
        return action
    }

    /// Notes that the time has passed in which the connection with this number should have opened or, if it is open,
    /// should have received a message. Returns the action to take.
    mutating func tick(_ number: Int) -> Silence {
        guard number == connection else { return .end }
        guard phase == .open else { return phase == .connecting ? .end : .fine }
        guard hasHeard else { return .verify(history.end) }
        (hasHeard, failures) = (false, 0)
        return .fine
    }

    /// Notes that entries have changed although the given connection has received no message about it, and ends the
    /// connection.
    ///
    /// - Parameters:
    ///   - revision: The current revision of the store.
    ///   - number: The number of the connection.
    /// - Returns: The action that the caller must carry out.
    mutating func verified(_ revision: Int64, of number: Int) -> Action {
        guard number == connection, phase == .open, !hasHeard, revision > max(history.end, settled) else {
            return Action()
        }
        settled = revision
        return close(.forSilence)
    }

    private mutating func close(_ reason: Closing) -> Action {
        if closing == .none { closing = reason }
        return Action(wake: closer.take().map { [$0] } ?? [])
    }

    /// Stores the closer of the connection with a number: the continuation of the code that ends the connection when it
    /// is resumed.
    ///
    /// - Returns: `nil` if the closer was stored. Otherwise the given continuation: the connection must end at once.
    mutating func parkCloser(_ number: Int, _ waiter: Word) -> Word? {
        guard number == connection, closing == .none else { return waiter }
        closer = waiter
        return nil
    }

    /// Notes that the code that ends the connection with this number stops waiting, because its task was cancelled or
    /// because the connection ends by itself.
    ///
    /// - Returns: The closer, the continuation that ``parkCloser(_:_:)`` has stored, which the caller must resume;
    ///   `nil` if there is none.
    mutating func leaveCloser(_ number: Int) -> Word? {
        guard number == connection else { return nil }
        if closing == .none { closing = .asFailure }
        return closer.take()
    }

    /// Notes that the connection with a number has ended, and returns the action that the caller must carry out, and
    /// whether a new connection must be made.
    ///
    /// - Parameters:
    ///   - number: The number of the connection.
    ///   - error: The error that ended the connection; `nil` if the server or the state machine has ended it without an
    ///     error.
    mutating func ended(_ number: Int, _ error: StoreError?) -> (Action, Next) {
        guard number == connection, phase == .open || phase == .connecting else { return (Action(), .over) }
        phase = .pausing
        switch closing {
        case .forOlder, .afterLoss: return (Action(), .again(failures: 0, elsewhere: false))
        case .forSilence: return (Action(), .again(failures: 0, elsewhere: true))
        case .none, .asFailure: break
        }
        switch error?.reason {
        case .unauthorized, .refused:
            return (fail(error), .over)
        default:
            failures += 1
            return (Action(), .again(failures: failures, elsewhere: true))
        }
    }

    /// Ends the run with a number, which cannot continue. A run is the time from the first watcher to the removal of
    /// the last one. All watchers receive the error. Returns the action that the caller must carry out.
    mutating func failed(_ run: Int, _ error: StoreError) -> Action {
        run == self.run && phase != .idle ? fail(error) : Action()
    }

    private mutating func fail(_ error: StoreError?) -> Action {
        for id in watchers.keys where watchers[id]?.failure == nil { watchers[id]?.failure = error }
        let wake = takeReady()
        return Action(wake: wake + endRun())
    }
}
