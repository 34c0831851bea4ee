import TaskControl
import TestSupport

@testable import TaskControlEtcd
@testable import TaskControlFleet

/// Plays events to a ``WatchStateMachine``, with a store whose changes a connection delivers one after another, and checks the reports of
/// each watcher.
struct WatchStateMachineDriver: MachineDriver {
    enum Event: Hashable {
        /// A watcher of all keys, or of one, after a revision.
        case add(onlyA: Bool, after: Int64)
        case remove(Int)
        case leave(Int)
        /// The store changes a key.
        case change(isA: Bool)
        case compact
        case connect
        case opened
        /// The connection delivers the next change; also twice.
        case deliver(again: Bool)
        case break_
        case refuse
        /// The clock of the storage cannot sleep between two connections.
        case fail
        case tick
        case verify
    }

    struct Watcher: Hashable {
        let onlyA: Bool
        /// The revision up to which it has received all reports.
        var position: Int64
        var isParked = false
        var hasLeft = false
        var hasBegun = false
        var hasFailed = false
    }

    private typealias Machine = WatchStateMachine

    /// The closer of the connection. The waiter of a watcher is the watcher's index.
    private static let closer: Word = 99

    private var machine = Machine(history: WatchHistory(after: 0, maxCount: 4))
    private var ids: [Machine.ID] = []
    private var watchers: [Watcher?] = []
    /// The changes of the store: the key of each revision from 1 on.
    private var changes: [Bool] = []
    private var compacted: Int64 = 0
    /// The run that the storage has begun.
    private var run: Int?
    private var connection: Machine.Connection?
    private var isOpen = false
    private var delivered: Int64 = 0
    private var isCloserParked = false
    private var mustClose = false
    private(set) var disagreement: String?

    var revision: Int64 { Int64(changes.count) }

    var signature: Int {
        var hasher = Hasher()
        hasher.combine("\(machine)")
        hasher.combine(watchers)
        hasher.combine(changes)
        hasher.combine([
            run ?? -1, Int(delivered), Int(compacted), isOpen ? 1 : 0, mustClose ? 1 : 0, connection?.number ?? -1,
        ])
        return hasher.finalize()
    }

    var events: [Event] {
        var events: [Event] = []
        if watchers.count < 3 {
            events.append(.add(onlyA: false, after: revision))
            if revision > 0 { events.append(.add(onlyA: true, after: revision - 1)) }
            if revision > 1 { events.append(.add(onlyA: false, after: 0)) }
        }
        for (index, watcher) in watchers.enumerated() where watcher != nil {
            events.append(.remove(index))
            if watcher?.hasLeft == false, index == 0 { events.append(.leave(index)) }
        }
        if changes.count < 6 { events += [.change(isA: true), .change(isA: false)] }
        if compacted < revision, revision > 1 { events.append(.compact) }
        if connection == nil, run != nil { events.append(.connect) }
        if connection == nil, run != nil, watchers.count == 3 { events.append(.fail) }
        guard connection != nil else { return events }
        if !isOpen { events.append(.opened) }
        if isOpen, delivered < revision { events.append(.deliver(again: false)) }
        if isOpen, delivered > 0 { events.append(.deliver(again: true)) }
        // A refusal ends everything: not before there is something to end.
        if watchers.count == 3 { events.append(.refuse) }
        return events + [.break_, .tick, .verify]
    }

    mutating func play(_ event: Event) {
        switch event {
        case .add(let onlyA, let after):
            let (id, action) = machine.add(onlyA ? .key("a") : .prefix(""), after: after)
            ids.append(id)
            watchers.append(Watcher(onlyA: onlyA, position: after))
            carryOut(action)
            ask(ids.count - 1)
        case .remove(let index):
            watchers[index] = nil
            carryOut(machine.remove(ids[index]))
        case .leave(let index):
            watchers[index]?.hasLeft = true
            let waiter = machine.leave(ids[index])
            expect(
                (waiter == Word(index)) == (watchers[index]?.isParked == true),
                "a cancelled watcher is resumed if it waits"
            )
            watchers[index]?.isParked = false
            expect(machine.next(ids[index]) == .left, "a cancelled watcher leaves")
        case .change(let isA): changes.append(isA)
        case .compact: compacted = revision
        case .connect:
            guard let run, let next = machine.connect(run) else { return self.run = nil }
            connection = next
            (isOpen, delivered, mustClose) = (false, next.revision, false)
            isCloserParked = machine.parkCloser(next.number, Self.closer) == nil
            for watcher in watchers.compactMap(\.self) where watcher.hasBegun && !watcher.hasFailed {
                expect(
                    next.revision <= max(watcher.position, delivered),
                    "a connection begins at or before what watchers know"
                )
            }
        case .opened:
            guard let connection else { return }
            isOpen = true
            carryOut(machine.opened(connection.number))
            if connection.revision < compacted - 1 {
                carryOut(machine.lost(upTo: compacted, of: connection.number))
                expect(mustClose, "after a compaction the connection ends")
            }
        case .deliver(let again):
            guard let connection else { return }
            if !again { delivered += 1 }
            carryOut(machine.receive([change(delivered)], of: connection.number))
        case .break_: end(StoreError(.ambiguous, "broken"))
        case .refuse: end(StoreError(.unauthorized, "refused"))
        case .fail:
            guard let run else { return }
            carryOut(machine.failed(run, StoreError(.refused, "failed")))
            self.run = nil
            expect(machine.connect(run) == nil, "a run that has failed is over")
            for (index, watcher) in watchers.enumerated() where watcher != nil {
                expect(watcher?.isParked == false, "all watchers are resumed")
                if watchers[index]?.hasLeft == false {
                    guard case .failure = machine.next(ids[index]) else {
                        expect(false, "all watchers receive the failure")
                        break
                    }
                    watchers[index]?.hasFailed = true
                }
            }
        case .tick:
            guard let connection else { return }
            let silence = machine.tick(connection.number)
            if !isOpen { expect(silence == .end, "a connection that does not open ends") }
        case .verify:
            guard let connection else { return }
            let before = mustClose
            carryOut(machine.verified(revision, of: connection.number))
            if isOpen, delivered == revision, !before {
                expect(!mustClose, "a connection that has delivered everything stays")
            }
        }
        if mustClose, isCloserParked { expect(false, "a connection that must end has its closer resumed") }
        // The storage ends it at once.
        if mustClose, connection != nil { end(nil) }
        checkParked()
    }

    private func change(_ revision: Int64) -> WatchHistory.Change {
        let key = changes[Int(revision) - 1] ? "a" : "b"
        return WatchHistory.Change(.delete(key: key, revision: revision))
    }

    private mutating func end(_ error: StoreError?) {
        guard let ended = connection else { return }
        (connection, isOpen, mustClose, isCloserParked) = (nil, false, false, false)
        _ = machine.leaveCloser(ended.number)
        let (action, continuation) = machine.ended(ended.number, error)
        carryOut(action)
        if continuation == .over { run = nil }
    }

    private mutating func carryOut(_ action: Machine.Action) {
        switch action.command {
        case .run(let run):
            self.run = run
            (connection, isOpen, mustClose, isCloserParked) = (nil, false, false, false)
        case .stop(let ended):
            if self.run == ended { run = nil }
            (connection, isOpen, mustClose, isCloserParked) = (nil, false, false, false)
        case nil: break
        }
        for waiter in action.wake {
            if waiter == Self.closer {
                isCloserParked = false
                mustClose = connection != nil
            } else {
                let index = waiter.number
                expect(watchers[index]?.isParked == true, "who is woken was parked")
                watchers[index]?.isParked = false
                let old = watchers[index]
                ask(index)
                expect(watchers[index] != old || watchers[index] == nil, "a watcher is woken for a report")
            }
        }
    }

    /// Takes reports until there is none, as the storage does.
    private mutating func ask(_ index: Int) {
        while var watcher = watchers[index] {
            switch machine.next(ids[index]) {
            case .left: return expect(watcher.hasLeft, "only a cancelled watcher leaves")
            case .failure:
                watcher.hasFailed = true
                watchers[index] = watcher
                return
            case .wait:
                if let waiter = machine.park(ids[index], Word(index)) {
                    return expect(waiter != Word(index), "it was told to wait")
                }
                watchers[index]?.isParked = true
                return
            case .report(let report): take(report, &watcher)
            }
            watchers[index] = watcher
        }
    }

    private mutating func take(_ report: StoreChanges, _ watcher: inout Watcher) {
        expect(report.revision >= watcher.position, "reports do not go back")
        if !watcher.hasBegun {
            expect(report.changes.isEmpty && report.isComplete, "the first report has no changes")
            expect(isOpen, "a watch begins when it is open")
            watcher.hasBegun = true
        } else if report.isComplete {
            let missed = (watcher.position..<max(watcher.position, report.revision)).map { change($0 + 1) }
                .filter { !watcher.onlyA || $0.key == "a" }
            expect(missed.map(\.change) == report.changes, "\(report) after \(watcher.position)")
            expect(!report.changes.isEmpty, "a report has changes")
        } else {
            expect(report.revision > watcher.position, "something is missing")
        }
        expect(report.revision <= revision, "the store is not at \(report.revision)")
        watcher.position = report.revision
    }

    private mutating func checkParked() {
        // A watcher that waits, on a connection that has delivered everything, has received everything.
        guard isOpen, delivered == revision, connection != nil else { return }
        for watcher in watchers.compactMap(\.self) where watcher.isParked && watcher.hasBegun && !watcher.hasFailed {
            let missed = (watcher.position..<max(watcher.position, revision)).map { change($0 + 1) }
                .filter { !watcher.onlyA || $0.key == "a" }
            expect(missed.isEmpty, "a watcher at \(watcher.position) waits for \(missed)")
        }
    }

    private mutating func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
        if !condition, disagreement == nil { disagreement = message() }
    }
}
