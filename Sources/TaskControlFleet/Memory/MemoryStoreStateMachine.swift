internal import Foundation
internal import TaskControl

/// The leases, entries and watches of a ``MemoryStore``. A pure state machine.
///
/// Each event is passed with the current time, and first ends the leases that have expired by then. Time never runs backwards: a time earlier than a
/// previous one counts as the previous one.
///
/// Invariants, checked after each step of the tests:
/// 1. Each transaction that changes entries has the next revision, and all entries that are removed with one lease have the same revision.
/// 2. An entry is attached to a lease that has not ended, or to no lease.
/// 3. Each watch reports each change of its range exactly once, in the order of revisions, unless it reports that it is incomplete.
/// 4. A timer runs if and only if there are both a watch and a lease, and ends no later than the lease that expires first.
struct MemoryStoreStateMachine {
    /// The number of a watch. It is never reused.
    struct WatchID: Hashable {
        fileprivate let number: UInt64
    }

    /// Changes for a suspended watch, and the waiter (the watch's continuation) to resume with these changes.
    struct Delivery {
        let waiter: Word
        let changes: StoreChanges
    }

    /// The action for the timer, which ends leases while there are watches.
    enum TimerAction: Hashable {
        case keep
        /// Starts a timer that ends at the given time of the store's `Stopwatch`, and cancels the present timer. When
        /// the timer ends, call ``timerEnded(_:now:)`` with its number.
        case start(number: UInt64, at: Duration)
        case stop
    }

    /// The answer to an event, and the actions that the store must execute.
    struct Step<Answer> {
        let answer: Answer
        /// The changes for waiting watches, in the order in which the watches were added.
        let deliveries: [Delivery]
        let timer: TimerAction
    }

    private struct Lease {
        let id: LeaseID
        let timeToLive: Duration
        var expiry: Duration
    }

    private struct Watch {
        let id: WatchID
        let range: StoreRange
        /// The revision up to which all changes were reported.
        var revision: Int64
        var hasBegun = false
        /// Whether the caller of the watch is cancelled: the watch no longer waits.
        var hasLeft = false
        var waiter: Word?
    }

    private var time = Duration.zero
    private(set) var revision: Int64 = 1
    private var entries = MemoryStoreEntries()
    private var history: MemoryStoreHistory
    /// The leases, in the order of their numbers.
    private var leases: [Lease] = []
    private var nextLease: Int64 = 1
    /// The watches, in the order of their numbers.
    private var watches: [Watch] = []
    private var nextWatch: UInt64 = 1
    private var timer: (number: UInt64, end: Duration)?
    private var nextTimer: UInt64 = 1
    /// The changes for waiting watches that the present event has caused.
    private var deliveries: [Delivery] = []

    /// Creates the state of an empty store.
    ///
    /// - Parameter historyLimit: The maximum number of changes that are kept for watches.
    init(historyLimit: Int) {
        history = MemoryStoreHistory(limit: historyLimit)
    }

    var entryCount: Int { entries.all.count }
    var leaseCount: Int { leases.count }
    var watchCount: Int { watches.count }

    // MARK: Leases

    /// Grants a lease.
    ///
    /// - Parameter timeToLive: The duration. A lease of zero or less has ended when the next event is passed.
    mutating func grant(_ timeToLive: Duration, now: Duration) -> Step<StoreLease> {
        step(now) { machine in
            let granted = max(.zero, timeToLive).saturated
            let id = LeaseID(rawValue: machine.nextLease)
            machine.nextLease += 1
            machine.leases.append(Lease(id: id, timeToLive: granted, expiry: machine.time + granted))
            return StoreLease(id: id, timeToLive: granted)
        }
    }

    mutating func renew(_ id: LeaseID, now: Duration) -> Step<Result<StoreLease, StoreError>> {
        step(now) { machine in
            guard let index = machine.leases.firstIndex(where: { $0.id == id }) else {
                return .failure(.leaseNotFound(id))
            }
            let granted = machine.leases[index].timeToLive
            machine.leases[index].expiry = machine.time + granted
            return .success(StoreLease(id: id, timeToLive: granted))
        }
    }

    /// Ends a lease and removes its entries. Does nothing if there is no such lease.
    mutating func revoke(_ id: LeaseID, now: Duration) -> Step<Void> {
        step(now) { $0.end(id) }
    }

    /// Returns how long after the time `now` a lease still lasts; `nil` if there is no such lease.
    func remaining(of id: LeaseID, now: Duration) -> Duration? {
        leases.first { $0.id == id && $0.expiry > now }.map { $0.expiry - now }
    }

    // MARK: Entries

    mutating func transact(
        _ transaction: StoreTransaction,
        now: Duration
    ) -> Step<Result<StoreTransaction.Result, StoreError>> {
        step(now) { $0.transact(transaction) }
    }

    mutating func read(_ range: StoreRange, now: Duration) -> Step<StoreSnapshot> {
        step(now) { StoreSnapshot(entries: $0.entries.read(range), revision: $0.revision) }
    }

    /// Removes all changes that are kept for watches.
    mutating func compact(now: Duration) -> Step<Void> {
        step(now) { $0.history.removeAll() }
    }

    private mutating func transact(_ transaction: StoreTransaction) -> Result<StoreTransaction.Result, StoreError> {
        let succeeded = transaction.comparisons.allSatisfy { $0.holds(for: entries[$0.key]) }
        // Both lists are checked, so that a mistake is an error regardless of the entries.
        guard
            StoreTransaction.changeNoKeyTwice(transaction.success),
            StoreTransaction.changeNoKeyTwice(transaction.failure)
        else { return .failure(StoreError(.refused, "a transaction changes a key twice")) }
        let operations = succeeded ? transaction.success : transaction.failure
        for case .put(_, _, let lease?) in operations where !leases.contains(where: { $0.id == lease }) {
            return .failure(.leaseNotFound(lease))
        }
        var (changes, reads) = ([StoreChanges.Change](), [[StoreEntry]]())
        let next = revision + 1
        for operation in operations {
            switch operation {
            case .put(let key, let value, let lease):
                let created = entries[key]?.createRevision ?? next
                let entry = StoreEntry(
                    key: key,
                    value: value,
                    createRevision: created,
                    modifyRevision: next,
                    lease: lease
                )
                entries.put(entry)
                changes.append(.put(entry))
            case .delete(let keys):
                changes += entries.remove(keys).map { .delete(key: $0, revision: next) }
            case .read(let range):
                reads.append(entries.read(range))
            }
        }
        commit(changes)
        return .success(StoreTransaction.Result(succeeded: succeeded, reads: reads, revision: revision))
    }

    // MARK: Watches

    mutating func beginWatch(_ range: StoreRange, after revision: Int64, now: Duration) -> Step<WatchID> {
        step(now) { machine in
            let id = WatchID(number: machine.nextWatch)
            machine.nextWatch += 1
            machine.watches.append(Watch(id: id, range: range, revision: revision))
            return id
        }
    }

    enum NextAction: Hashable {
        case report(StoreChanges)
        /// The waiter (the watch's continuation) was stored. The waiter is returned later in a ``Delivery`` or by ``leave(_:)``.
        case wait
        /// The caller of the watch was cancelled, or the watch was removed.
        case left
    }

    /// Returns the next report of a watch, or stores the waiter (the watch's continuation) until a report is available.
    mutating func next(_ id: WatchID, _ waiter: Word, now: Duration) -> Step<NextAction> {
        step(now) { machine in
            guard let index = machine.index(of: id), !machine.watches[index].hasLeft else { return .left }
            if let report = machine.report(of: index) { return .report(report) }
            machine.watches[index].waiter = waiter
            return .wait
        }
    }

    /// Ends the present wait of a watch whose caller is cancelled. If the watch does not wait now, its next wait ends at once.
    ///
    /// - Returns: The waiter (the watch's continuation), to be resumed; `nil` if no waiter is stored, or it was already
    ///   resumed with changes.
    mutating func leave(_ id: WatchID) -> Word? {
        guard let index = index(of: id) else { return nil }
        defer { watches[index].waiter = nil }
        watches[index].hasLeft = true
        return watches[index].waiter
    }

    /// Removes a watch, which must not be suspended. Does nothing if there is no such watch.
    mutating func endWatch(_ id: WatchID, now: Duration) -> Step<Void> {
        step(now) { machine in machine.watches.removeAll { $0.id == id } }
    }

    private func index(of id: WatchID) -> Int? { watches.firstIndex { $0.id == id } }

    /// Returns the next report of the watch at an index in the list of watches; `nil` if there is nothing to report.
    private mutating func report(of index: Int) -> StoreChanges? {
        var watch = watches[index]
        defer { watches[index] = watch }
        let isBeginning = !watch.hasBegun
        watch.hasBegun = true
        if !history.isComplete(after: watch.revision) {
            watch.revision = revision
            return StoreChanges([], revision: revision, isComplete: false)
        }
        if isBeginning { return StoreChanges([], revision: watch.revision) }
        let changes = history.changes(in: watch.range, after: watch.revision)
        watch.revision = max(watch.revision, revision)
        return changes.isEmpty ? nil : StoreChanges(changes, revision: watch.revision)
    }

    // MARK: Time

    /// Notes that a timer has ended. Has no effect on the current timer if the ended timer was stopped or replaced before.
    mutating func timerEnded(_ number: UInt64, now: Duration) -> Step<Void> {
        step(now) { if $0.isTimer(number) { $0.timer = nil } }
    }

    /// Returns whether the timer with a number is the current one: it was started last, and was not stopped.
    func isTimer(_ number: UInt64) -> Bool { timer?.number == number }

    /// Ends the leases that have expired, in the order of their expiry; then processes an event; and then decides whether the timer must be started
    /// or stopped.
    private mutating func step<Answer>(_ now: Duration, _ event: (inout Self) -> Answer) -> Step<Answer> {
        time = max(time, now)
        // Sorted by expiry, and then by number: the sort may change the order of equal elements.
        let expired = leases.filter { $0.expiry <= time }
            .sorted { ($0.expiry, $0.id.rawValue) < ($1.expiry, $1.id.rawValue) }
        for lease in expired { end(lease.id) }
        let answer = event(&self)
        defer { deliveries = [] }
        return Step(answer: answer, deliveries: deliveries, timer: settleTimer())
    }

    private mutating func settleTimer() -> TimerAction {
        guard let end = watches.isEmpty ? nil : leases.lazy.map(\.expiry).min() else {
            defer { timer = nil }
            return timer == nil ? .keep : .stop
        }
        // A timer that ends too early finds no lease to end, and is followed by another one.
        if let timer, timer.end <= end { return .keep }
        timer = (nextTimer, end)
        defer { nextTimer += 1 }
        return .start(number: nextTimer, at: end)
    }

    private mutating func end(_ id: LeaseID) {
        guard let index = leases.firstIndex(where: { $0.id == id }) else { return }
        leases.remove(at: index)
        let next = revision + 1
        commit(entries.remove(attachedTo: id).map { .delete(key: $0, revision: next) })
    }

    /// Adds changes to the history with the next revision, and passes them to the waiting watches.
    private mutating func commit(_ changes: [StoreChanges.Change]) {
        guard !changes.isEmpty else { return }
        revision += 1
        history.append(changes, at: revision)
        for index in watches.indices {
            guard let waiter = watches[index].waiter, let report = report(of: index) else { continue }
            watches[index].waiter = nil
            deliveries.append(Delivery(waiter: waiter, changes: report))
        }
    }
}

extension StoreError {
    fileprivate static func leaseNotFound(_ id: LeaseID) -> Self { Self(.leaseNotFound, "no lease has the ID \(id)") }
}

extension StoreChanges.Change {
    /// The key of the entry that has changed.
    var key: String {
        switch self {
        case .put(let entry): entry.key
        case .delete(let key, _): key
        }
    }
}

extension StoreTransaction.Comparison {
    /// The key of the entry that the condition examines.
    var key: String {
        switch self {
        case .absent(let key), .present(let key), .createRevision(let key, _), .modifyRevision(let key, _),
            .value(let key, _):
            key
        }
    }

    /// Returns whether the condition holds.
    ///
    /// - Parameter entry: The entry with the key; `nil` if there is none.
    func holds(for entry: StoreEntry?) -> Bool {
        guard let entry else {
            if case .absent = self { return true }
            return false
        }
        return switch self {
        case .absent: false
        case .present: true
        case .createRevision(_, let revision): entry.createRevision == revision
        case .modifyRevision(_, let revision): entry.modifyRevision == revision
        case .value(_, let value): entry.value == value
        }
    }
}

extension StoreTransaction {
    /// Returns whether the operations change each key at most once: no operation puts or deletes a key that an earlier operation has put or deleted.
    ///
    /// - Complexity: O(*n*²) in the number of operations.
    static func changeNoKeyTwice(_ operations: [Operation]) -> Bool {
        let ranges = operations.compactMap { operation -> StoreRange.Keys? in
            switch operation {
            case .put(let key, _, _): .key(key)
            case .delete(let keys): keys
            case .read: nil
            }
        }
        return ranges.indices.allSatisfy { index in ranges[..<index].allSatisfy { !$0.overlaps(ranges[index]) } }
    }
}

extension StoreRange.Keys {
    /// Returns whether any key can be in both ranges.
    func overlaps(_ other: Self) -> Bool {
        switch (self, other) {
        case (.key(let key), _): StoreRange(other).contains(key)
        case (_, .key(let key)): StoreRange(self).contains(key)
        case (.prefix(let one), .prefix(let other)):
            one.utf8.starts(with: other.utf8) || other.utf8.starts(with: one.utf8)
        }
    }
}
