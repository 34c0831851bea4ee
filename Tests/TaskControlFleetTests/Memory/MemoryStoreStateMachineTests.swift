import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlFleet

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct MemoryStoreStateMachineTests {
    private typealias Machine = MemoryStoreStateMachine

    /// All sequences of six events, and of four in a debug build.
    @Test func agreesWithAModelThatKeepsEverything() {
        var steps = 0
        func search(_ driver: MemoryStoreDriver, _ path: [MemoryStoreDriver.Event], depth: Int) -> Bool {
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
        #expect(search(MemoryStoreDriver(), [], depth: fullSize(6, inDebug: 4)))
        #expect(steps > 10_000)
    }

    /// Long random sequences, in which leases end while watches wait and the history overflows.
    @Test func agreesWithTheModelInLongSequences() {
        for seed in 0..<fullSize(20_000, inDebug: 500) as Range<UInt64> {
            var (driver, random, path) = (MemoryStoreDriver(), SeededGenerator(seed: seed), [MemoryStoreDriver.Event]())
            for _ in 0..<40 where driver.disagreement == nil {
                let event = driver.events.randomElement(using: &random)!
                path.append(event)
                driver.play(event)
            }
            guard let disagreement = driver.disagreement else { continue }
            Issue.record("\(disagreement), seed \(seed): \(path)")
            return
        }
    }

    // MARK: Ranges

    private func machine(with keys: [String]) -> Machine {
        var machine = Machine(historyLimit: 10)
        for key in keys { _ = machine.transact(StoreTransaction(success: [.put(key, Data())]), now: .zero) }
        return machine
    }

    private func read(_ range: StoreRange, _ machine: Machine) -> [String] {
        var machine = machine
        return machine.read(range, now: .zero).answer.entries.map(\.key)
    }

    @Test func keysAreInTheOrderOfTheirBytes() {
        // "e\u{301}" and "\u{E9}" are the same character, and different keys.
        let keys = ["b", "e\u{301}", "\u{E9}", "a/2", "a/10", "a", "a0", "", "\u{1F600}", "\u{FFFF}"]
        let sorted = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(read(.prefix(""), machine(with: keys)).map { Array($0.utf8) } == sorted.map { Array($0.utf8) })
    }

    @Test func aPrefixHasTheKeysThatBeginWithIt() {
        let machine = machine(with: ["a", "a/2", "a/", "a/10", "a0", "b", "a/\u{10FFFF}"])
        #expect(read(.prefix("a/"), machine) == ["a/", "a/10", "a/2", "a/\u{10FFFF}"])
        #expect(read(.prefix("c"), machine) == [] && read(.prefix("0"), machine) == [])
        #expect(read(.key("a/"), machine) == ["a/"] && read(.key("a/1"), machine) == [])
    }

    @Test func theOldestEntriesComeFirstInTheOrderOfCreation() {
        let machine = machine(with: ["c", "a", "b", "c"])
        #expect(read(StoreRange(.prefix(""), order: .creation), machine) == ["c", "a", "b"])
        #expect(read(StoreRange(.prefix(""), order: .creation, limit: 2), machine) == ["c", "a"])
    }

    @Test(arguments: [0, -1, Int.min]) func aLimitBelowOneIsOne(_ limit: Int) {
        #expect(read(StoreRange(.prefix(""), limit: limit), machine(with: ["a", "b"])) == ["a"])
    }

    // MARK: Leases

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func aLeaseOfZeroOrLessEndsAtOnce(_ timeToLive: Duration) {
        var machine = Machine(historyLimit: 10)
        let lease = machine.grant(timeToLive, now: .seconds(1)).answer
        #expect(lease.timeToLive == .zero)
        #expect(throws: StoreError.self) { try machine.renew(lease.id, now: .seconds(1)).answer.get() }
    }

    @Test func aLeaseOfAnyLengthIsGranted() {
        var machine = Machine(historyLimit: 10)
        let lease = machine.grant(.seconds(Int64.max), now: .seconds(1)).answer
        #expect(lease.timeToLive > .seconds(1_000_000_000))
        #expect(machine.remaining(of: lease.id, now: .seconds(1)) == lease.timeToLive)
    }

    /// The lease has not been removed: that happens with the next event.
    @Test func aLeaseThatHasExpiredHasNoRemainingTime() {
        var machine = Machine(historyLimit: 10)
        let leases = [2, 9].map { machine.grant(.seconds($0), now: .zero).answer.id }
        #expect(machine.remaining(of: leases[0], now: .seconds(1)) == .seconds(1))
        #expect(machine.remaining(of: leases[0], now: .seconds(2)) == nil)
        #expect(machine.remaining(of: leases[1], now: .seconds(2)) == .seconds(7) && machine.leaseCount == 2)
    }

    @Test func anEarlierTimeCountsAsTheLatestOne() {
        var machine = Machine(historyLimit: 10)
        let lease = machine.grant(.seconds(1), now: .seconds(5)).answer
        _ = machine.renew(lease.id, now: .zero)
        #expect(machine.remaining(of: lease.id, now: .seconds(5)) == .seconds(1))
    }

    @Test func anEntryThatIsPutWithAnotherLeaseBelongsToThatOne() {
        var machine = Machine(historyLimit: 10)
        let leases = [1, 2].map { machine.grant(.seconds($0), now: .zero).answer.id }
        for lease in leases {
            _ = machine.transact(StoreTransaction(success: [.put("a", Data(), lease: lease)]), now: .zero)
        }
        #expect(machine.read(.key("a"), now: .seconds(1)).answer.entries.count == 1)
        #expect(machine.read(.key("a"), now: .seconds(2)).answer.entries.isEmpty)
    }

    // MARK: Transactions

    @Test func aTransactionThatChangesAKeyTwiceIsRefused() {
        let twice: [[StoreTransaction.Operation]] = [
            [.put("a", Data()), .put("a", Data())], [.put("a", Data()), .delete(.key("a"))],
            [.delete(.prefix("")), .put("a", Data())], [.delete(.prefix("a")), .delete(.prefix("a/"))],
            [.delete(.key("a")), .delete(.key("a"))],
        ]
        for operations in twice {
            for transaction in [
                StoreTransaction(success: operations), StoreTransaction(success: [], failure: operations),
            ] {
                var machine = machine(with: ["a"])
                let revision = machine.revision
                guard case .failure(let error) = machine.transact(transaction, now: .zero).answer else {
                    Issue.record("not refused: \(operations)")
                    continue
                }
                #expect(error.reason == .refused && machine.revision == revision)
            }
        }
    }

    @Test func aTransactionWithAMissingLeaseChangesNothing() {
        var machine = machine(with: ["a"])
        let (revision, lease) = (machine.revision, LeaseID(rawValue: 77))
        let transaction = StoreTransaction(success: [.delete(.key("a")), .put("b", Data(), lease: lease)])
        #expect(throws: StoreError.self) { try machine.transact(transaction, now: .zero).answer.get() }
        #expect(machine.revision == revision && read(.prefix(""), machine) == ["a"])
    }

    @Test func aComparisonOfAnEntryThatIsNotThereDoesNotHold() {
        let comparisons: [StoreTransaction.Comparison] = [
            .present("b"), .createRevision("b", 0), .modifyRevision("b", 0), .value("b", Data()),
        ]
        for comparison in comparisons {
            var machine = machine(with: ["a"])
            let result = machine.transact(StoreTransaction(comparisons: [comparison], success: []), now: .zero).answer
            #expect((try? result.get())?.succeeded == false, "\(comparison)")
        }
    }

    // MARK: Watches

    @Test func aTransactionThatIsLargerThanTheHistoryIsIncomplete() {
        var machine = Machine(historyLimit: 2)
        let id = machine.beginWatch(.prefix(""), after: 1, now: .zero).answer
        #expect(machine.next(id, 1, now: .zero).answer == .report(StoreChanges([], revision: 1)))
        #expect(machine.next(id, 1, now: .zero).answer == .wait)
        let puts = ["a", "b", "c"].map { StoreTransaction.Operation.put($0, Data()) }
        let deliveries = machine.transact(StoreTransaction(success: puts), now: .zero).deliveries
        #expect(deliveries.map(\.changes) == [StoreChanges([], revision: 2, isComplete: false)])
    }

    @Test func aWatchAfterAFutureRevisionWaitsForIt() {
        var machine = Machine(historyLimit: 10)
        let id = machine.beginWatch(.prefix(""), after: 2, now: .zero).answer
        #expect(machine.next(id, 1, now: .zero).answer == .report(StoreChanges([], revision: 2)))
        #expect(machine.next(id, 1, now: .zero).answer == .wait)
        #expect(machine.transact(StoreTransaction(success: [.put("a", Data())]), now: .zero).deliveries.isEmpty)
        #expect(machine.transact(StoreTransaction(success: [.put("b", Data())]), now: .zero).deliveries.count == 1)
    }
}
