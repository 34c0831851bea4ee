import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlEtcd
@testable import TaskControlFleet

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct WatchStateMachineTests {
    private typealias Machine = WatchStateMachine

    /// All sequences of six events, and of five in a debug build.
    @Test func tellsEachWatcherEverythingOnceOrThatSomethingIsMissing() {
        var steps = 0
        func search(_ driver: WatchStateMachineDriver, _ path: [WatchStateMachineDriver.Event], depth: Int) -> Bool {
            guard depth > 0 else { return true }
            return driver.events.allSatisfy { event in
                var driver = driver
                driver.play(event)
                steps += 1
                if let disagreement = driver.disagreement {
                    Issue.record("\(disagreement), after \(path + [event])")
                    return false
                }
                return search(driver, path + [event], depth: depth - 1)
            }
        }
        #expect(search(WatchStateMachineDriver(), [], depth: fullSize(7, inDebug: 5)))
        #expect(steps > 1_000)
    }

    @Test func keepsItsPromisesInLongSequences() {
        for seed in 0..<fullSize(200_000, inDebug: 3_000) as Range<UInt64> {
            var (driver, random) = (WatchStateMachineDriver(), SeededGenerator(seed: seed))
            var path: [WatchStateMachineDriver.Event] = []
            for _ in 0..<40 where driver.disagreement == nil {
                // After all watchers have left, and all changes were made, there is none.
                guard let event = driver.events.randomElement(using: &random) else { break }
                path.append(event)
                driver.play(event)
            }
            guard let disagreement = driver.disagreement else { continue }
            Issue.record("\(disagreement), seed \(seed): \(path)")
            return
        }
    }

    // MARK: Single rules

    private func change(_ key: String, _ revision: Int64) -> WatchHistory.Change {
        WatchHistory.Change(.delete(key: key, revision: revision))
    }

    private func open(_ machine: inout Machine) -> Int {
        let connection = machine.connect(1)!
        _ = machine.opened(connection.number)
        return connection.number
    }

    @Test func theFirstWatcherBeginsARunAndTheLastEndsIt() {
        var machine = Machine()
        let (first, action) = machine.add(.prefix(""), after: 7)
        check(action.command == .run(1))
        let (second, other) = machine.add(.prefix(""), after: 9)
        check(other.command == nil)
        check(machine.connect(1) == .init(number: 1, revision: 7))
        check(machine.remove(first).command == nil)
        check(machine.remove(second).command == .stop(1))
        check(machine.connect(1) == nil)
        check(machine.count == 0)
        let (_, again) = machine.add(.prefix(""), after: 9)
        check(again.command == .run(2))
    }

    @Test func aNewConnectionContinuesAfterTheLastChange() {
        var machine = Machine()
        let (id, _) = machine.add(.prefix(""), after: 7)
        let number = open(&machine)
        check(machine.next(id) == .report(StoreChanges([], revision: 7)))
        _ = machine.receive([change("a", 8), change("b", 8), change("a", 11)], of: number)
        let (_, continuation) = machine.ended(number, StoreError(.ambiguous, ""))
        check(continuation == .again(failures: 1, elsewhere: true))
        check(machine.connect(1)?.revision == 11)
        _ = machine.opened(number + 1)
        // Changes that were received before are ignored, and so is a connection that has ended.
        _ = machine.receive([change("a", 11), change("c", 12)], of: number + 1)
        _ = machine.receive([change("x", 13)], of: number)
        let changes: [StoreChanges.Change] = [
            .delete(key: "a", revision: 8), .delete(key: "b", revision: 8), .delete(key: "a", revision: 11),
            .delete(key: "c", revision: 12),
        ]
        check(machine.next(id) == .report(StoreChanges(changes, revision: 12)))
        check(machine.next(id) == .wait)
    }

    @Test func aWatcherOfAnOlderRevisionHasTheConnectionMadeAgain() {
        var machine = Machine()
        let (first, _) = machine.add(.prefix(""), after: 7)
        let number = open(&machine)
        check(machine.parkCloser(number, 9) == nil)
        _ = machine.next(first)
        _ = machine.receive([change("a", 8)], of: number)
        let (second, action) = machine.add(.prefix(""), after: 5)
        check(action.wake == [9])
        check(machine.next(second) == .wait)
        let (_, continuation) = machine.ended(number, nil)
        check(continuation == .again(failures: 0, elsewhere: false))
        check(machine.connect(1)?.revision == 5)
        _ = machine.opened(number + 1)
        _ = machine.receive([change("b", 6), change("a", 8), change("a", 9)], of: number + 1)
        check(machine.next(second) == .report(StoreChanges([], revision: 5)))
        guard case .report(let caughtUp) = machine.next(second), case .report(let rest) = machine.next(first) else {
            Issue.record("both have reports")
            return
        }
        check(caughtUp.changes.count == 3 && caughtUp.isComplete)
        // The first watcher has not asked since revision 7.
        check(rest == StoreChanges([.delete(key: "a", revision: 8), .delete(key: "a", revision: 9)], revision: 9))
    }

    @Test func aCompactionIsReportedToThoseWhoMissedSomething() {
        var machine = Machine()
        let (old, _) = machine.add(.prefix(""), after: 3)
        let (new, _) = machine.add(.prefix(""), after: 12)
        let number = open(&machine)
        _ = (machine.next(old), machine.next(new))
        _ = machine.lost(upTo: 10, of: number)
        check(machine.next(old) == .report(StoreChanges([], revision: 10, isComplete: false)))
        check(machine.next(new) == .wait)
        check(machine.ended(number, nil).1 == .again(failures: 0, elsewhere: false))
        check(machine.connect(1)?.revision == 10)
    }

    @Test func aSilentConnectionIsVerifiedAndMadeAgainOnce() {
        var machine = Machine()
        let (_, _) = machine.add(.prefix(""), after: 7)
        var number = open(&machine)
        check(machine.tick(number) == .fine)
        check(machine.tick(number) == .verify(7))
        check(machine.parkCloser(number, 9) == nil)
        check(machine.verified(7, of: number).wake.isEmpty)
        check(machine.verified(9, of: number).wake == [9])
        check(machine.ended(number, nil).1 == .again(failures: 0, elsewhere: true))
        number = open(&machine)
        check(machine.tick(number) == .fine)
        check(machine.tick(number) == .verify(7))
        check(machine.parkCloser(number, 9) == nil)
        // The new connection has reported everything up to here.
        check(machine.verified(9, of: number).wake.isEmpty)
        check(machine.verified(10, of: number).wake == [9])
    }

    @Test func aConnectionThatDoesNotOpenEnds() {
        var machine = Machine()
        _ = machine.add(.prefix(""), after: 7)
        let connection = machine.connect(1)!
        check(machine.tick(connection.number) == .end)
        check(machine.leaveCloser(connection.number) == nil)
        check(machine.ended(connection.number, nil).1 == .again(failures: 1, elsewhere: true))
    }

    @Test func aRefusalEndsAllWatches() {
        var machine = Machine()
        let (first, _) = machine.add(.prefix(""), after: 7)
        check(machine.park(first, 1) == nil)
        let connection = machine.connect(1)!
        let refusal = StoreError(.unauthorized, "")
        let (action, continuation) = machine.ended(connection.number, refusal)
        check(action.wake == [1] && continuation == .over)
        check(machine.next(first) == .failure(refusal))
        // A later watch tries again.
        let (second, next) = machine.add(.prefix(""), after: 7)
        check(next.command == .run(2))
        check(machine.remove(first).command == nil)
        check(machine.remove(second).command == .stop(2))
    }

    @Test func aRunThatCannotContinueEndsAllWatches() {
        var machine = Machine()
        let (first, _) = machine.add(.prefix(""), after: 7)
        let number = open(&machine)
        _ = machine.ended(number, nil)
        check(machine.park(first, 1) == nil)
        let error = StoreError(.refused, "")
        check(machine.failed(2, error).wake.isEmpty)
        check(machine.failed(1, error).wake == [1])
        check(machine.next(first) == .failure(error))
        check(machine.connect(1) == nil)
        check(machine.failed(1, error).wake.isEmpty)
        let (_, next) = machine.add(.prefix(""), after: 7)
        check(next.command == .run(2))
    }

    @Test func aWatcherThatHasFailedKeepsItsErrorAndAsksForNothing() {
        var machine = Machine()
        _ = machine.add(.prefix(""), after: 7)
        _ = open(&machine)
        let (older, _) = machine.add(.prefix(""), after: 5)
        let (first, second) = (StoreError(.refused, "first"), StoreError(.refused, "second"))
        _ = machine.failed(1, first)
        let (later, next) = machine.add(.prefix(""), after: 9)
        check(next.command == .run(2))
        check(machine.connect(2)?.revision == 9)
        _ = machine.failed(2, second)
        check(machine.next(older) == .failure(first))
        check(machine.next(later) == .failure(second))
    }

    @Test func aConnectionThatHasEndedOpensAndLosesNothing() {
        var machine = Machine()
        let (id, _) = machine.add(.prefix(""), after: 7)
        let number = open(&machine)
        check(machine.next(id) == .report(StoreChanges([], revision: 7)))
        _ = machine.ended(number, nil)
        check(machine.lost(upTo: 10, of: number).wake.isEmpty)
        _ = machine.opened(number)
        check(!machine.isOpen(number))
        check(machine.connect(1)?.revision == 7)
        _ = machine.opened(number)
        check(!machine.isOpen(number + 1))
        _ = machine.opened(number + 1)
        _ = machine.lost(upTo: 10, of: number)
        _ = machine.ended(number + 1, nil)
        check(machine.connect(1)?.revision == 7)
        // A connection may lose what it asks for before it opens.
        check(machine.lost(upTo: 10, of: number + 2).wake.isEmpty)
        _ = machine.ended(number + 2, nil)
        check(machine.connect(1)?.revision == 10)
    }

    @Test func aSlowWatcherIsToldThatSomethingIsMissing() {
        var machine = Machine(history: WatchHistory(after: 0, maxCount: 4))
        let (id, _) = machine.add(.key("a"), after: 0)
        let number = open(&machine)
        _ = machine.next(id)
        for revision in 1...20 as ClosedRange<Int64> { _ = machine.receive([change("a", revision)], of: number) }
        check(machine.next(id) == .report(StoreChanges([], revision: 20, isComplete: false)))
        check(machine.next(id) == .wait)
        check(machine.park(id, 1) == nil)
        check(machine.receive([change("b", 21)], of: number).wake.isEmpty)
        check(machine.receive([change("a", 22)], of: number).wake == [1])
        check(machine.next(id) == .report(StoreChanges([.delete(key: "a", revision: 22)], revision: 22)))
        // Its position is not that of a new connection.
        for revision in 23...40 as ClosedRange<Int64> { _ = machine.receive([change("a", revision)], of: number) }
        _ = machine.ended(number, nil)
        check(machine.connect(1)?.revision == 40)
    }

    @Test func failuresAreCountedUntilAConnectionHasLasted() {
        var machine = Machine()
        _ = machine.add(.prefix(""), after: 7)
        for failures in 1...3 {
            let number = open(&machine)
            check(machine.ended(number, nil).1 == .again(failures: failures, elsewhere: true))
        }
        let number = open(&machine)
        check(machine.tick(number) == .fine)
        check(machine.ended(number, nil).1 == .again(failures: 1, elsewhere: true))
    }

    @Test func aRunKnowsNeitherTheFailuresNorTheRevisionsOfTheRunBefore() {
        var machine = Machine()
        for run in 1...2 {
            func connectInVain() {
                let connection = machine.connect(run)!
                check(machine.ended(connection.number, nil).1 == .again(failures: 1, elsewhere: true))
            }
            let (id, _) = machine.add(.prefix(""), after: 0)
            connectInVain()
            let silent = machine.connect(run)!
            _ = machine.opened(silent.number)
            check(machine.tick(silent.number) == .fine)
            check(machine.tick(silent.number) == .verify(0))
            check(machine.parkCloser(silent.number, 9) == nil)
            check(machine.verified(1, of: silent.number).wake == [9])
            check(machine.ended(silent.number, nil).1 == .again(failures: 0, elsewhere: true))
            connectInVain()
            check(machine.remove(id).command == .stop(run))
        }
    }
}
