#if SQLite
import Foundation
import GRDB
import TaskControl
import TaskControlTesting
import Testing

@testable import TaskControlFleet

@Suite struct SQLiteStoreTests {
    // MARK: Leases and the machine

    @Test func aLeaseExpiresByTheClockOfTheMachineForAllProcesses() async throws {
        let fixture = try SQLiteFixture()
        let (one, other) = (fixture.store(), fixture.store())
        let lease = try await one.grantLease(timeToLive: .seconds(5))
        try await one.put("a", lease: lease.id)
        fixture.advance(by: .seconds(4))
        #expect(try await other.renewLease(lease.id) == StoreLease(id: lease.id, timeToLive: .seconds(5)))
        fixture.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(try await other.keys() == ["a"])
        fixture.advance(by: .nanoseconds(1))
        #expect(try await other.keys() == [])
        #expect(await reason { _ = try await one.renewLease(lease.id) } == .leaseNotFound)
    }

    @Test func leasesThatExpireTogetherEndInTheOrderOfTheirExpiry() async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store()
        let late = try await store.grantLease(timeToLive: .seconds(2))
        let early = try await store.grantLease(timeToLive: .seconds(1))
        try await store.put("late", lease: late.id)
        let start = try await store.put("early", lease: early.id)
        fixture.advance(by: .seconds(3))
        let changes = try await firstChanges(of: store, after: start)
        #expect(
            changes.changes
                == [.delete(key: "early", revision: start + 1), .delete(key: "late", revision: start + 2)]
        )
    }

    @Test func theShortestLeaseIsATenthOfASecond() async throws {
        let store = try SQLiteFixture().store()
        for duration in [Duration.zero, .seconds(-5), .milliseconds(99)] {
            #expect(try await store.grantLease(timeToLive: duration).timeToLive == .milliseconds(100))
        }
        let longest = try await store.grantLease(timeToLive: .seconds(Int64.max))
        #expect(longest.timeToLive == .longestWait)
        #expect(try await store.renewLease(longest.id) == longest)
    }

    @Test func aLeaseOfAnEarlierStartOfTheMachineEndsOneDurationAfterTheNext() async throws {
        let fixture = try SQLiteFixture()
        let revision: Int64
        let lease: StoreLease
        do {
            let store = fixture.store()
            lease = try await store.grantLease(timeToLive: .seconds(60))
            try await store.put("kept")
            revision = try await store.put("leased", lease: lease.id)
        }
        // The clock alone does not tell: it is as late as it was.
        fixture.restart(as: "second", now: .seconds(2))
        let store = fixture.store()
        // It can be that of a process of another machine.
        #expect(try await store.keys() == ["kept", "leased"])
        fixture.advance(by: .seconds(60) - .nanoseconds(1))
        // Opening the file once more does not extend it.
        #expect(try await fixture.store().keys() == ["kept", "leased"])
        fixture.advance(by: .nanoseconds(1))
        #expect(try await store.keys() == ["kept"])
        #expect(await reason { _ = try await store.renewLease(lease.id) } == .leaseNotFound)
        // A power failure may have taken back transactions: neither their revisions nor their leases are given twice.
        #expect(try await store.put("next") > revision + 1 << 24)
        #expect(try await store.grantLease(timeToLive: .seconds(1)).id.rawValue > lease.id.rawValue + 1 << 24)
        #expect(try await !firstChanges(of: store, after: revision).isComplete)
    }

    @Test func aStartThatIsOnlySeenByTheClockEndsLeasesOneDurationLater() async throws {
        let fixture = try SQLiteFixture()
        fixture.restart(as: nil, now: .seconds(1_000))
        do {
            let store = fixture.store()
            try await store.put("leased", lease: store.grantLease(timeToLive: .seconds(60)).id)
        }
        fixture.restart(as: nil, now: .seconds(999))
        #expect(try await fixture.store().keys() == ["leased"])
        fixture.advance(by: .seconds(60))
        #expect(try await fixture.store().keys() == [])
    }

    @Test func aProcessThatMayNotReadTheStartOfTheMachineSharesLeasesWithOneThatMay() async throws {
        let fixture = try SQLiteFixture()
        let knowing = fixture.store()
        fixture.restart(as: nil, now: .seconds(2))
        let other = fixture.store()
        try await knowing.put("a", lease: knowing.grantLease(timeToLive: .seconds(60)).id)
        try await other.put("b", lease: other.grantLease(timeToLive: .seconds(60)).id)
        #expect(try await knowing.keys() == ["a", "b"])
        // Opened later.
        fixture.restart(as: "first", now: .seconds(3))
        #expect(try await fixture.store().keys() == ["a", "b"])
        fixture.restart(as: nil, now: .seconds(3))
        #expect(try await fixture.store().keys() == ["a", "b"])
    }

    @Test func processesOfTwoMachinesAreRefused() async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store()
        try await store.put("a")
        fixture.restart(as: "of another machine", now: .seconds(1))
        try await fixture.store().put("b")
        #expect(await reason { try await store.put("c") } == .refused)
        #expect(await reason { _ = try await store.read(.prefix("")) } == .refused)
    }

    /// The clocks of two machines have nothing in common.
    @Test(arguments: [Duration.seconds(1), .seconds(1_000_000)])
    func aProcessOfAnotherMachineHoldsNoLeaseWhileThatOfTheFirstOneIsValid(_ now: Duration) async throws {
        let fixture = try SQLiteFixture()
        let first = fixture.store()
        let lease = try await first.grantLease(timeToLive: .seconds(60))
        let token = try await first.put("job", lease: lease.id)
        fixture.restart(as: "of another machine", now: now)
        let other = fixture.store()
        let acquisition = StoreTransaction(comparisons: [.absent("job")], success: [.put("job", Data())])
        #expect(try await !other.transact(acquisition).succeeded)
        // The first one cannot renew its lease, which ends by its own clock before it ends in the file.
        #expect(await reason { _ = try await first.renewLease(lease.id) } == .refused)
        fixture.advance(by: .seconds(60) - .nanoseconds(1))
        #expect(try await !other.transact(acquisition).succeeded)
        fixture.advance(by: .nanoseconds(1))
        let result = try await other.transact(acquisition)
        #expect(result.succeeded && result.revision > token)
    }

    // MARK: Watches

    /// Returns the first report after the one that says that the watch has begun, unless that one is incomplete.
    private func firstChanges(of store: SQLiteStore, after revision: Int64) async throws -> StoreChanges {
        struct Found: Error {
            let changes: StoreChanges
        }
        do {
            try await store.watch(.prefix(""), after: revision) { changes in
                if !changes.isComplete || !changes.changes.isEmpty { throw Found(changes: changes) }
            }
        } catch let found as Found {
            return found.changes
        }
        throw CancellationError()
    }

    @Test(.timeLimit(.minutes(5)))
    func aWatchReportsTheChangesOfAnotherProcessWithinThePollInterval() async throws {
        let (fixture, clock) = (try SQLiteFixture(), TestClock())
        let (watched, other) = (fixture.store(clock: clock), fixture.store())
        let start = try await other.put("a")
        let reports = Locked<[StoreChanges]>([])
        let watch = Task {
            try await watched.watch(.prefix("b"), after: start) { changes in reports.withLock { $0.append(changes) } }
        }
        try await clock.waitForSleepers()
        #expect(reports.withLock(\.self) == [StoreChanges([], revision: start)])
        let lease = try await other.grantLease(timeToLive: .seconds(1))
        try await other.put("other")
        let put = try await other.put("b", "1", lease: lease.id)
        await clock.advance(by: .milliseconds(100))
        try await clock.waitForSleepers()
        let entry = StoreEntry(
            key: "b",
            value: Data("1".utf8),
            createRevision: put,
            modifyRevision: put,
            lease: lease.id
        )
        #expect(reports.withLock(\.last) == StoreChanges([.put(entry)], revision: put))
        // No other process calls the store when the lease expires.
        fixture.advance(by: .seconds(1))
        await clock.advance(by: .milliseconds(100))
        try await clock.waitForSleepers()
        #expect(reports.withLock(\.last) == StoreChanges([.delete(key: "b", revision: put + 1)], revision: put + 1))
        #expect(reports.withLock(\.count) == 3)
        watch.cancel()
        await #expect(throws: CancellationError.self) { try await watch.value }
    }

    @Test(.timeLimit(.minutes(5)))
    func changesOutsideTheRangeMakeNoWatchIncomplete() async throws {
        let (fixture, clock) = (try SQLiteFixture(), TestClock())
        let store = fixture.store(historyLimit: 5, clock: clock)
        let start = try await store.put("a")
        let reports = Locked<[StoreChanges]>([])
        let watch = Task {
            try await store.watch(.key("a"), after: start) { changes in reports.withLock { $0.append(changes) } }
        }
        defer { watch.cancel() }
        for _ in 0..<6 {
            try await clock.waitForSleepers()
            for _ in 0..<4 { try await store.put("other") }
            await clock.advance(by: .milliseconds(100))
        }
        try await clock.waitForSleepers()
        #expect(reports.withLock(\.self) == [StoreChanges([], revision: start)])
        // More than is kept.
        for _ in 0..<6 { try await store.put("other") }
        await clock.advance(by: .milliseconds(100))
        try await clock.waitForSleepers()
        #expect(reports.withLock(\.last) == StoreChanges([], revision: start + 30, isComplete: false))
    }

    @Test func theHistoryIsBounded() async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store(historyLimit: 7)
        for number in 0..<50 { try await store.put("\(number % 3)") }
        let database = try fixture.connection()
        #expect(try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM change") } == 7)
        // The changes of one revision are kept or dropped together.
        let all = StoreTransaction(success: (0..<8).map { .put("new \($0)", Data()) })
        let revision = try await store.transact(all).revision
        #expect(try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM change") } == 0)
        #expect(try await !firstChanges(of: store, after: revision - 1).isComplete)
    }

    @Test func theHistoryIsBoundedInBytes() async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store(historyBytes: 10_000)
        // 1,065 bytes per change.
        let value = String(repeating: "v", count: 1_000)
        var last: Int64 = 0
        for _ in 0..<30 { last = try await store.put("k", value) }
        let database = try fixture.connection()
        let count = { try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM change") } }
        #expect(try await count() == 9)
        #expect(try await firstChanges(of: store, after: last - 9).changes.count == 9)
        #expect(try await !firstChanges(of: store, after: last - 10).isComplete)
        for _ in 0..<200 { last = try await store.put("k") }
        // 65 bytes per change.
        #expect(try await count() == 153)
        // A change that is larger than the limit is not kept.
        last = try await store.put("k", String(repeating: "v", count: 10_000))
        #expect(try await count() == 0)
        #expect(try await !firstChanges(of: store, after: last - 1).isComplete)
    }

    // MARK: Several processes

    @Test func manyStoresMayCreateTheFileAtTheSameTime() async throws {
        let fixture = try SQLiteFixture()
        let leases = try await withThrowingTaskGroup { group in
            for _ in 0..<16 {
                group.addTask { try await fixture.store().grantLease(timeToLive: .seconds(60)).id }
            }
            return try await group.reduce(into: Set<LeaseID>()) { $0.insert($1) }
        }
        #expect(leases.count == 16)
    }

    @Test func concurrentTransactionsOfManyStoresLoseNoUpdate() async throws {
        let fixture = try SQLiteFixture()
        try await fixture.store().put("counter", "0")
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    let store = fixture.store()
                    for _ in 0..<25 { try await Self.increment(store) }
                }
            }
            try await group.waitForAll()
        }
        let entry = try #require(try await fixture.store().read(.key("counter")).entries.first)
        #expect(String(decoding: entry.value, as: UTF8.self) == "100")
        #expect(entry.modifyRevision == entry.createRevision + 100)
    }

    private static func increment(_ store: SQLiteStore) async throws {
        while true {
            guard let entry = try await store.read(.key("counter")).entries.first else { throw CancellationError() }
            let next = Int(String(decoding: entry.value, as: UTF8.self))! + 1
            let increment = StoreTransaction(
                comparisons: [.modifyRevision("counter", entry.modifyRevision)],
                success: [.put("counter", Data("\(next)".utf8))]
            )
            if try await store.transact(increment).succeeded { return }
        }
    }

    // MARK: Entries

    @Test func keysAreComparedAsUTF8AndValuesMayBeEmpty() async throws {
        let store = try SQLiteFixture().store()
        // One scalar, and the same character of two scalars; the last scalar of Unicode.
        let keys = ["", "a", "ab", "e\u{301}", "z", "\u{E9}", "\u{10FFFF}", "\u{10FFFF}\u{10FFFF}"]
        for key in keys.shuffled() { try await store.put(key) }
        let entries = try await store.read(.prefix("")).entries
        #expect(entries.map { Array($0.key.utf8) } == keys.map { Array($0.utf8) })
        #expect(entries.allSatisfy { $0.value == Data() })
        #expect(try await store.read(.prefix("\u{10FFFF}")).entries.count == 2)
        #expect(try await store.read(.key("\u{E9}")).entries.count == 1)
        #expect(try await store.read(StoreRange(.prefix(""), order: .creation, limit: -3)).entries.count == 1)
        let remove = StoreTransaction(success: [.delete(.prefix("e")), .delete(.prefix("\u{10FFFF}"))])
        _ = try await store.transact(remove)
        #expect(try await store.keys().count == 5)
    }
}
#endif
