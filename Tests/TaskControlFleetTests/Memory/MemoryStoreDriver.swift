import Foundation
import TaskControl
import TestSupport

@testable import TaskControlFleet

/// The machine of a memory store against a model that keeps everything and searches through it, with numbers for waiters.
struct MemoryStoreDriver {
    typealias Machine = MemoryStoreStateMachine
    typealias Change = StoreChanges.Change

    enum Event {
        case grant(Int)
        case renew(Int64)
        case revoke(Int64)
        case put(String, lease: Int64?)
        case delete(StoreRange.Keys)
        case compact
        case beginWatch(StoreRange, after: Int64)
        case next(Int)
        case leave(Int)
        case endWatch(Int)
        case sleep(Int)
        case timer
    }

    struct Watch {
        let id: Machine.WatchID
        let range: StoreRange
        var position: Int64
        var hasBegun = false
        var hasLeft = false
        var isWaiting = false
        var hasEnded = false
    }

    static let limit = 3

    var machine = Machine(historyLimit: limit)
    var now = Duration.zero
    var revision: Int64 = 1
    var entries: [StoreEntry] = []
    var leases: [(id: Int64, timeToLive: Duration, end: Duration)] = []
    var granted: Int64 = 0
    var log: [(revision: Int64, change: Change)] = []
    var compacted: Int64 = 0
    var watches: [Watch] = []
    var timer: (number: UInt64, end: Duration)?
    /// The reports that the machine must hand to waiters in this step.
    var delivered: [String] = []
    /// The first answer of the machine that differs from the model's.
    var disagreement: String?

    var events: [Event] {
        let ids = (1...2 as ClosedRange<Int64>).filter { $0 <= granted }
        let live = watches.indices.filter { !watches[$0].hasEnded }
        var events: [Event] = [
            .put("a/1", lease: nil), .put("b", lease: nil), .delete(.prefix("a/")), .compact, .sleep(1),
        ]
        if granted < 2 { events += [.grant(1), .grant(2)] }
        events += ids.flatMap { [.renew($0), .revoke($0), .put("a/1", lease: $0), .put("a/2", lease: $0)] }
        if live.count < 2 { events += [.beginWatch(.prefix("a/"), after: 1), .beginWatch(.key("b"), after: revision)] }
        // A watch asks one question at a time, and ends after it.
        events += live.flatMap { watches[$0].isWaiting ? [.leave($0)] : [.next($0), .leave($0), .endWatch($0)] }
        if timer != nil { events.append(.timer) }
        return events
    }

    mutating func play(_ event: Event) {
        delivered = []
        switch event {
        case .sleep(let seconds):
            now += .seconds(seconds)
            return
        case .leave(let index):
            // No step: the cancellation handler ends no lease.
            let waiter = machine.leave(watches[index].id)
            expect(waiter == (watches[index].isWaiting ? Word(index) : nil), "the waiter that leaves")
            (watches[index].hasLeft, watches[index].isWaiting) = (true, false)
            return
        case .timer: now = max(now, timer!.end)
        default: break
        }
        expire()
        switch event {
        case .grant(let seconds): grant(.seconds(seconds))
        case .renew(let id): renew(id)
        case .revoke(let id):
            end(id)
            check(machine.revoke(LeaseID(rawValue: id), now: now))
        case .put(let key, let lease): put(key, lease)
        case .delete(let keys): delete(keys)
        case .compact:
            compacted = log.last?.revision ?? compacted
            check(machine.compact(now: now))
        case .beginWatch(let range, let revision):
            let id = check(machine.beginWatch(range, after: revision, now: now), settles: false)
            watches.append(Watch(id: id, range: range, position: revision))
            expectTimer()
        case .next(let index): next(index)
        case .endWatch(let index):
            watches[index].hasEnded = true
            check(machine.endWatch(watches[index].id, now: now))
        case .timer:
            let number = timer!.number
            timer = nil
            check(machine.timerEnded(number, now: now))
        case .sleep, .leave: break
        }
        expect(machine.revision == revision, "the revision")
        expect(machine.entryCount == entries.count && machine.leaseCount == leases.count, "the counts")
        expect(machine.watchCount == watches.count { !$0.hasEnded }, "the number of watches")
    }

    // MARK: The model

    private mutating func grant(_ timeToLive: Duration) {
        granted += 1
        leases.append((granted, timeToLive, now + timeToLive))
        let lease = check(machine.grant(timeToLive, now: now))
        expect(lease == StoreLease(id: LeaseID(rawValue: granted), timeToLive: timeToLive), "the granted lease")
    }

    private mutating func renew(_ id: Int64) {
        let index = leases.firstIndex { $0.id == id }
        if let index { leases[index].end = now + leases[index].timeToLive }
        switch check(machine.renew(LeaseID(rawValue: id), now: now)) {
        case .success(let lease): expect(index.map { leases[$0].timeToLive } == lease.timeToLive, "the renewed lease")
        case .failure(let error): expect(index == nil && error.reason == .leaseNotFound, "the error")
        }
    }

    private mutating func put(_ key: String, _ lease: Int64?) {
        let isThere = lease.map { lease in leases.contains { $0.id == lease } } ?? true
        let before = entries.first { $0.key == key }
        let comparison =
            before.map { StoreTransaction.Comparison.createRevision(key, $0.createRevision) } ?? .absent(key)
        let entry = StoreEntry(
            key: key,
            value: Data([UInt8(revision)]),
            createRevision: before?.createRevision ?? revision + 1,
            modifyRevision: revision + 1,
            lease: lease.map(LeaseID.init(rawValue:))
        )
        let transaction = StoreTransaction(
            comparisons: [comparison],
            success: [
                .put(key, entry.value, lease: entry.lease), .read(StoreRange(.prefix(""), order: .creation, limit: 2)),
            ]
        )
        if isThere {
            entries.removeAll { $0.key == key }
            entries.append(entry)
            commit([.put(entry)])
        }
        switch check(machine.transact(transaction, now: now)) {
        case .success(let result):
            let oldest = entries.sorted { ($0.createRevision, $0.key) < ($1.createRevision, $1.key) }.prefix(2)
            expect(isThere && result.succeeded && result.revision == revision, "the result")
            expect(result.reads == [Array(oldest)], "the entries that were read")
        case .failure(let error): expect(!isThere && error.reason == .leaseNotFound, "the error")
        }
    }

    private mutating func delete(_ keys: StoreRange.Keys) {
        let range = StoreRange(keys)
        commit(remove { range.contains($0.key) })
        let result = check(machine.transact(StoreTransaction(success: [.delete(keys), .read(range)]), now: now))
        guard case .success(let result) = result else { return expect(false, "the result") }
        expect(result.revision == revision && result.reads == [[]], "the result")
    }

    private mutating func next(_ index: Int) {
        let expected: Machine.NextAction
        if watches[index].hasLeft {
            expected = .left
        } else if let report = report(index) {
            expected = .report(report)
        } else {
            watches[index].isWaiting = true
            expected = .wait
        }
        let action = check(machine.next(watches[index].id, Word(index), now: now))
        expect(action == expected, "the next report")
    }

    private mutating func expire() {
        for lease in leases.sorted(by: { ($0.end, $0.id) < ($1.end, $1.id) }) where lease.end <= now { end(lease.id) }
    }

    private mutating func end(_ id: Int64) {
        leases.removeAll { $0.id == id }
        commit(remove { $0.lease?.rawValue == id })
    }

    private mutating func remove(where isGone: (StoreEntry) -> Bool) -> [Change] {
        let keys = entries.filter(isGone).map(\.key).sorted()
        entries.removeAll { keys.contains($0.key) }
        return keys.map { .delete(key: $0, revision: revision + 1) }
    }

    private mutating func commit(_ changes: [Change]) {
        if changes.isEmpty { return }
        revision += 1
        log += changes.map { (revision, $0) }
        while log.count(where: { $0.revision > compacted }) > Self.limit {
            compacted = log.first { $0.revision > compacted }!.revision
        }
        for index in watches.indices where watches[index].isWaiting {
            guard let report = report(index) else { continue }
            watches[index].isWaiting = false
            delivered.append("\(index): \(report)")
        }
    }

    private mutating func report(_ index: Int) -> StoreChanges? {
        let (watch, wasBegun) = (watches[index], watches[index].hasBegun)
        watches[index].hasBegun = true
        guard watch.position >= compacted else {
            watches[index].position = revision
            return StoreChanges([], revision: revision, isComplete: false)
        }
        if !wasBegun { return StoreChanges([], revision: watch.position) }
        watches[index].position = revision
        let changes = log.filter { $0.revision > watch.position }.map(\.change).filter {
            watch.range.contains(Self.key($0))
        }
        return changes.isEmpty ? nil : StoreChanges(changes, revision: revision)
    }

    private static func key(_ change: Change) -> String {
        switch change {
        case .put(let entry): entry.key
        case .delete(let key, _): key
        }
    }

    // MARK: Comparing

    /// - Parameter settles: Whether the model has taken the event into account already.
    @discardableResult
    private mutating func check<Answer>(_ step: Machine.Step<Answer>, settles: Bool = true) -> Answer {
        let found = step.deliveries.map { "\($0.waiter.number): \($0.changes)" }
        expect(found == delivered, "the deliveries")
        switch step.timer {
        case .keep: break
        case .start(let number, let end): timer = (number, end)
        case .stop: timer = nil
        }
        expect(timer.map { machine.isTimer($0.number) } ?? true, "knows the timer")
        if settles { expectTimer() }
        return step.answer
    }

    private mutating func expectTimer() {
        let first = leases.map(\.end).min()
        let isWanted = first != nil && watches.contains { !$0.hasEnded }
        expect((timer != nil) == isWanted, "whether there is a timer")
        if let timer, let first { expect(timer.end <= first, "the timer ends with the first lease") }
    }

    private mutating func expect(_ condition: Bool, _ message: StaticString) {
        if !condition, disagreement == nil { disagreement = "\(message): \(self)" }
    }
}
