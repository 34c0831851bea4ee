#if SQLite
import Dispatch
import Foundation
import GRDB
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlFleet

/// Files that are replaced under a store that is used for several things.
@Suite(.timeLimit(.minutes(5)))
struct SQLiteLossTests {
    /// The use of a store that first notices that the file was replaced, and then opens the new one.
    enum Use: CaseIterable {
        case read, write, lease

        func callAsFunction(_ store: SQLiteStore) async throws {
            switch self {
            case .read: _ = try await store.keys()
            case .write: try await store.put("a")
            case .lease: _ = try await store.grantLease(timeToLive: .seconds(60))
            }
        }
    }

    /// The functions that hold a lease, which a watch ends.
    enum Holder: CaseIterable {
        case lease, semaphore, election, flight, run

        /// Calls `body` while it holds the lease.
        func hold(in store: SQLiteStore, _ body: @escaping @Sendable () async -> Void) async throws {
            let timeToLive = Duration.seconds(600)
            switch self {
            case .lease:
                try await withLease("job", in: store, timeToLive: timeToLive) { _ in await body() }
            case .semaphore:
                let semaphore = FleetSemaphore("job", permits: 2, in: store, timeToLive: timeToLive)
                try await semaphore.withPermit { _ in await body() }
            case .election:
                let lifetime = AsyncLifetime()
                LeaderElection("job", in: store, timeToLive: timeToLive).lead(in: lifetime) { _ in await body() }
                try? await Gate().wait()
                lifetime.cancelAll()
            case .flight:
                let flight = FleetFlight<Int>("job", in: store, timeToLive: timeToLive)
                _ = try await flight.value(for: "a") {
                    await body()
                    return 1
                }
            case .run:
                try await runOnce("job", for: "today", in: store, timeToLive: timeToLive) { _ in await body() }
            }
        }
    }

    /// The first operation after the loss has noticed it, and the next one opens the new file, which takes the time in which other processes notice
    /// the loss too.
    @Test(arguments: Holder.allCases, Use.allCases)
    func aHolderLosesItsLeaseAlsoIfAnotherUseOfItsStoreHasNoticedTheLoss(_ holder: Holder, _ use: Use) async throws {
        let (fixture, clock) = (try SQLiteFixture(), TestClock())
        let (opening, opened) = (Gate(), DispatchSemaphore(value: 0))
        let sleep = { @Sendable (duration: Duration) in
            guard duration == .milliseconds(200), opened.wait(timeout: .now()) == .timedOut else { return }
            opening.open()
            opened.wait()
        }
        let wait = BusyWait(timeout: .seconds(30), sleep: sleep)
        let file = fixture.file(wait: wait, settleTime: .milliseconds(200))
        let store = SQLiteStore(file, pollInterval: .milliseconds(100), clock: clock)
        // The first file is new at its place as well.
        opened.signal()
        try await store.put("first")
        let (begun, cancelled) = (Gate(), Gate())
        let holding = Task {
            try await holder.hold(in: store) {
                begun.open()
                try? await Gate().wait()
                cancelled.open()
            }
        }
        defer { holding.cancel() }
        try await begun.wait()
        try await clock.waitForSleepers()
        try SQLitePlaceTests.Change.deletedWithCompanions.happen(to: fixture)
        #expect(await reason { try await use(store) } == .replaced)
        let next = Task { try await use(store) }
        try await opening.wait()
        await clock.advance(by: .milliseconds(100))
        try await cancelled.wait()
        opened.signal()
        try await next.value
    }

    /// They were made for the lost file, and a watch may be among them.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func callsThatWereMadeBeforeTheLossWasNoticedDoNotOpenTheNewFile() async throws {
        let fixture = try SQLiteFixture()
        let (waiting, mayGoOn) = (Gate(), DispatchSemaphore(value: 0))
        let wait = BusyWait(timeout: .seconds(30), now: { .zero }) { _ in
            waiting.open()
            mayGoOn.wait()
            mayGoOn.signal()
        }
        let store = SQLiteStore(fixture.file(wait: wait), pollInterval: .seconds(1), clock: TestClock())
        try await store.put("a")
        let other = try fixture.connection()
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        // One of them waits for the lock, and the others for that one.
        let calls = (0..<3).map { _ in Task.immediate { await reason { try await store.put("b") } } }
        let watch = Task.immediate { await reason { try await store.watch(.prefix(""), after: 1) { _ in } } }
        try await waiting.wait()
        try SQLitePlaceTests.Change.renamed.happen(to: fixture)
        // The lost file stays locked.
        mayGoOn.signal()
        for call in calls + [watch] { #expect(await call.value == .replaced) }
        #expect(!FileManager.default.fileExists(atPath: fixture.path))
    }

    /// A connection that was given up for another reason had not noticed it.
    @Test func aStoreNoticesTheLossAlsoIfItHadToOpenItsFileAgain() async throws {
        let fixture = try SQLiteFixture()
        let store = fixture.store()
        try await store.put("a")
        let database = try fixture.connection()
        try await database.write { try $0.execute(sql: "ALTER TABLE entry RENAME TO entries") }
        #expect(await reason { try await store.put("b") } == .refused)
        try await database.write { try $0.execute(sql: "ALTER TABLE entries RENAME TO entry") }
        try database.close()
        try SQLitePlaceTests.Change.renamed.happen(to: fixture)
        #expect(await reason { try await store.put("b") } == .replaced)
        try await store.put("b")
        #expect(try await store.keys() == ["b"])
    }

    /// Here the watch had ended for another reason, and begins again when the loss is long noticed.
    @Test func aHolderLosesItsLeaseAlsoIfItsWatchBeginsAfterTheLossWasNoticed() async throws {
        let (fixture, linked, clock) = (try SQLiteFixture(), try SQLiteFixture(), TestClock())
        let store = fixture.store(clock: clock)
        let (begun, cancelled) = (Gate(), Gate())
        let holding = Task {
            try await withLease("job", in: store, timeToLive: .seconds(600), clock: clock) { _ in
                begun.open()
                try? await Gate().wait()
                cancelled.open()
            }
        }
        defer { holding.cancel() }
        try await begun.wait()
        // The watch, the end of the lease, and the next renewal.
        try await clock.waitForSleepers(count: 3)
        try FileManager.default.linkItem(atPath: fixture.path, toPath: linked.path)
        await clock.advance(by: .milliseconds(100), waking: 1)
        try await clock.waitForSleepers(count: 3)
        try SQLitePlaceTests.Change.replacedByACopy.happen(to: fixture)
        #expect(await reason { _ = try await store.keys() } == .replaced)
        _ = try await store.keys()
        // Long before the next renewal.
        await clock.advance(by: .seconds(60))
        try await cancelled.wait()
    }
}
#endif
