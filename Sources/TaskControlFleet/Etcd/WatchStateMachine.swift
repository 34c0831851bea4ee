/// The one watch that all watchers of a store share: the watchers, the last changes, and when the connection is made again.
///
/// ```
///  run          idle ── add ─▶ pausing ── connect ─▶ connecting ── opened ─▶ open
///                ▲                ▲                        │                  │
///                │                └───────── ended ────────┴──────────────────┘
///                └── remove (the last one), ended (for good)
///  watcher      added ── opened ─▶ begun ── report … report ─▶ removed
/// ```
///
/// - A watcher has a position: the revision up to which it has received all reports. It takes its reports out of the common history, so that
///   a slow watcher needs no buffer. A watcher whose position the history no longer reaches receives a report that is not complete.
/// - A new watcher whose revision is before the history has the connection made again from there. Others ignore changes that they have received.
/// - A connection begins after the end of the history. A connection that is silent although entries have changed is made again.
struct WatchStateMachine<Waiter> {
    /// Identifies a watcher. Not used again.
    struct ID: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// A command to the storage.
    enum Command: Hashable {
        /// Begin a run: call `connect` with its number until it returns `nil`.
        case run(Int)
        /// End a run.
        case stop(Int)
    }

    /// The actions after an event.
    struct Action {
        /// To be resumed.
        var wake: [Waiter] = []
        var command: Command?
    }

    /// The answer to a watcher that asks for its next report.
    enum Answer: Hashable {
        case report(StoreChanges)
        case wait
        case failure(StoreError)
        /// The watcher was cancelled.
        case left
    }

    /// The beginning of a connection.
    struct Connection: Hashable {
        let number: Int
        /// The revision after which it reports changes.
        let revision: Int64
    }

    /// The answer to a time without a message.
    enum Silence: Hashable {
        /// The connection is in order.
        case fine
        /// Compare the entries of the store with those at a revision, and call `verified` if they differ.
        case verify(Int64)
        /// The connection did not open in time: end it.
        case end
    }

    /// The answer to the end of a connection.
    enum Next: Hashable {
        /// Connect again.
        ///
        /// - Parameters:
        ///   - failures: The number of connections that have failed in a row; 0: the end was intended.
        ///   - elsewhere: Whether to use another endpoint.
        case again(failures: Int, elsewhere: Bool)
        /// The run is over.
        case over
    }

    private struct Watcher {
        let range: StoreRange
        var position: Int64
        var hasBegun = false
        /// Whether its revision is before the history, and a connection from there is wanted.
        var isCatchingUp: Bool
        var failure: StoreError?
        var isLeaving = false
        var waiter: Waiter?
    }

    private enum Phase { case idle, pausing, connecting, open }

    private enum Closing { case none, forOlder, forSilence, afterLoss, asFailure }

    private var phase = Phase.idle
    private var run = 0
    private var connection = 0
    private var closing = Closing.none
    private var closer: Waiter?
    /// The number of connections that have failed since one was in order.
    private var failures = 0
    /// Whether the connection has said something since the last tick.
    private var hasHeard = false
    /// The revision of the store at which a connection was last made again because of silence: it has reported everything up to here.
    private var settled: Int64 = 0
    private var history: WatchHistory
    private var watchers: [ID: Watcher] = [:]
    private var nextNumber = 0

    /// - Parameter history: An empty history, for its limits.
    init(history: WatchHistory = WatchHistory(after: 0)) { self.history = history }

    /// The number of watchers.
    var count: Int { watchers.count }

    // MARK: Watchers

    /// Adds a watcher of the changes after a revision.
    mutating func add(_ range: StoreRange, after revision: Int64) -> (ID, Action) {
        let revision = max(0, revision)
        let id = ID(number: nextNumber)
        nextNumber += 1
        var watcher = Watcher(range: range, position: revision, isCatchingUp: false)
        if phase == .idle {
            history = history.emptied(after: revision)
            (run, failures, settled, phase) = (run + 1, 0, 0, .pausing)
            watchers[id] = watcher
            return (id, Action(command: .run(run)))
        }
        watcher.isCatchingUp = revision < history.start
        watchers[id] = watcher
        return (id, watcher.isCatchingUp && phase == .open ? close(.forOlder) : Action())
    }

    /// Returns the next report of a watcher.
    ///
    /// - Complexity: O(*n*) in the number of changes since the last one.
    mutating func next(_ id: ID) -> Answer {
        guard var watcher = watchers[id], !watcher.isLeaving else { return .left }
        defer { watchers[id] = watcher }
        if let failure = watcher.failure { return .failure(failure) }
        if !watcher.hasBegun {
            guard phase == .open, !watcher.isCatchingUp else { return .wait }
            watcher.hasBegun = true
            return .report(StoreChanges([], revision: watcher.position))
        }
        // The connection from there is on its way.
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

    /// Parks a watcher whose answer was `wait`.
    ///
    /// - Returns: The waiter, if it must ask again at once.
    mutating func park(_ id: ID, _ waiter: Waiter) -> Waiter? {
        guard watchers[id] != nil, !isReady(id) else { return waiter }
        watchers[id]?.waiter = waiter
        return nil
    }

    /// Marks a watcher as cancelled.
    ///
    /// - Returns: Its waiter, to be resumed.
    mutating func leave(_ id: ID) -> Waiter? {
        watchers[id]?.isLeaving = true
        return watchers[id]?.waiter.take()
    }

    /// Removes a watcher. The last one ends the run.
    mutating func remove(_ id: ID) -> Action {
        watchers[id] = nil
        guard phase != .idle, watchers.values.allSatisfy({ $0.failure != nil }) else { return Action() }
        return Action(wake: endRun(), command: .stop(run))
    }

    private mutating func endRun() -> [Waiter] {
        phase = .idle
        connection += 1
        history = history.emptied(after: 0)
        return closer.take().map { [$0] } ?? []
    }

    /// Whether the next report of a watcher is there. Skips changes of other ranges.
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

    /// Takes the waiters whose reports are there, in the order in which they were added.
    private mutating func takeReady() -> [Waiter] {
        let parked = watchers.filter { $0.value.waiter != nil }.keys.sorted { $0.number < $1.number }
        return parked.compactMap { id in isReady(id) ? watchers[id]?.waiter.take() : nil }
    }

    // MARK: Connections

    /// Begins the next connection of a run.
    ///
    /// - Returns: `nil`: the run is over.
    mutating func connect(_ run: Int) -> Connection? {
        guard run == self.run, phase == .pausing else { return nil }
        let oldest = watchers.values.filter { $0.isCatchingUp && $0.failure == nil }.map(\.position).min()
        if let oldest, oldest < history.start { history = history.emptied(after: oldest) }
        for id in watchers.keys { watchers[id]?.isCatchingUp = false }
        (phase, closing, hasHeard) = (.connecting, .none, false)
        connection += 1
        return Connection(number: connection, revision: history.end)
    }

    /// Receives that the server has created the watch of a connection.
    mutating func opened(_ number: Int) -> Action {
        guard number == connection, phase == .connecting else { return Action() }
        (phase, hasHeard) = (.open, true)
        var action = Action(wake: takeReady())
        if watchers.values.contains(where: \.isCatchingUp) { action.wake += close(.forOlder).wake }
        return action
    }

    /// Whether the server has created the watch of a connection.
    func isOpen(_ number: Int) -> Bool { number == connection && phase == .open }

    /// Receives changes, all those of one or more revisions.
    mutating func receive(_ changes: [WatchHistory.Change], of number: Int) -> Action {
        guard number == connection, phase == .open else { return Action() }
        (hasHeard, failures) = (true, 0)
        return history.append(changes) ? Action(wake: takeReady()) : Action()
    }

    /// Receives a message without changes.
    mutating func receiveProgress(of number: Int) {
        if number == connection, phase == .open { hasHeard = true }
    }

    /// Receives that changes up to a revision cannot be received: the store has no history before it, or they are too large.
    mutating func lost(upTo revision: Int64, of number: Int) -> Action {
        guard number == connection, phase == .open || phase == .connecting else { return Action() }
        // The connection does not ask for an earlier revision: the server contradicts itself.
        guard revision > history.end else { return close(.asFailure) }
        // Not the revision itself: before 3.4.36, etcd can lose a removal at the revision of the compaction.
        history = history.emptied(after: revision)
        for id in watchers.keys { watchers[id]?.isCatchingUp = false }
        var action = Action(wake: takeReady())
        action.wake += close(.afterLoss).wake
        return action
    }

    /// Receives that a time has passed, at the end of which a connection should have said something.
    mutating func tick(_ number: Int) -> Silence {
        guard number == connection else { return .end }
        guard phase == .open else { return phase == .connecting ? .end : .fine }
        guard hasHeard else { return .verify(history.end) }
        (hasHeard, failures) = (false, 0)
        return .fine
    }

    /// Receives during a silence that the entries have changed after the end of the history, and the revision of the store.
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

    /// Parks the waiter that ends a connection.
    ///
    /// - Returns: The waiter, if the connection must end at once.
    mutating func parkCloser(_ number: Int, _ waiter: Waiter) -> Waiter? {
        guard number == connection, closing == .none else { return waiter }
        closer = waiter
        return nil
    }

    /// Marks a connection as ending for another reason.
    ///
    /// - Returns: The waiter that ends it.
    mutating func leaveCloser(_ number: Int) -> Waiter? {
        guard number == connection else { return nil }
        if closing == .none { closing = .asFailure }
        return closer.take()
    }

    /// Receives that a connection has ended.
    ///
    /// - Parameter error: The error that ended it; `nil`: the server has, or it was closed.
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

    /// Receives that a run cannot continue: all watchers receive the error.
    mutating func failed(_ run: Int, _ error: StoreError) -> Action {
        run == self.run && phase != .idle ? fail(error) : Action()
    }

    private mutating func fail(_ error: StoreError?) -> Action {
        for id in watchers.keys where watchers[id]?.failure == nil { watchers[id]?.failure = error }
        let wake = takeReady()
        return Action(wake: wake + endRun())
    }
}
