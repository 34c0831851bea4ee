#if SQLite
import Foundation
import GRDB
import TaskControl
import Testing

@testable import TaskControlFleet

/// Waits for other processes that have the lock.
@Suite struct BusyWaitTests {
    @Test func waitsGrowAndEndAtTheDeadline() {
        let (time, waits) = (Locked(Duration.seconds(5)), Locked<[Duration]>([]))
        let wait = BusyWait(timeout: .milliseconds(200), now: { time.withLock(\.self) }) { duration in
            time.withLock { $0 += duration }
            waits.withLock { $0.append(duration) }
        }
        wait.begin(until: wait.newDeadline())
        var attempt = 0
        while wait.wait(attempt: attempt) { attempt += 1 }
        #expect(waits.withLock(\.self) == [1, 2, 4, 8, 16, 32, 50, 50, 37].map { .milliseconds($0) })
        #expect(time.withLock(\.self) == .milliseconds(5_200))
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func aTimeoutOfZeroDoesNotWait(_ timeout: Duration) {
        let wait = BusyWait(timeout: timeout, now: { .zero }) { _ in Issue.record("a wait") }
        wait.begin(until: wait.newDeadline())
        #expect(!wait.wait(attempt: 0))
    }

    @Test func theLongestTimeoutIsAnHour() {
        #expect(BusyWait(timeout: .seconds(Int64.max), now: { .zero }).newDeadline() == .seconds(3_600))
    }

    @Test func callsThatWaitBehindEachOtherShareTheTimeout() async throws {
        let fixture = try SQLiteFixture()
        let (time, waits, called) = (Locked(Duration.zero), Locked(0), DispatchSemaphore(value: 0))
        let wait = BusyWait(
            timeout: .seconds(1),
            now: {
                defer { called.signal() }
                return time.withLock(\.self)
            }
        ) { duration in
            let isFirst = waits.withLock { waits in
                waits += 1
                return waits == 1
            }
            // Until all calls have been made: the first one, which has opened the file, those that wait, and the reading before this wait.
            if isFirst { for _ in 0..<7 { called.wait() } }
            time.withLock { $0 += duration }
        }
        let store = SQLiteStore(fixture.file(wait: wait), pollInterval: .milliseconds(100), clock: ContinuousClock())
        try await store.put("a")
        let other = try fixture.connection()
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        await withTaskGroup { group in
            for number in 0..<5 {
                group.addTask { #expect(await reason { try await store.put("\(number)") } == .unavailable) }
            }
        }
        #expect(time.withLock(\.self) == .seconds(1))
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try await store.put("b")
        #expect(try await store.keys() == ["a", "b"])
    }
}
#endif
