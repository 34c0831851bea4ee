import Foundation
import TestSupport
import Testing

@testable import TaskControlEtcd
@testable import TaskControlFleet

@Suite(.tags(.machine))
struct WatchHistoryTests {
    private func put(_ key: String, _ revision: Int64, size: Int = 0) -> WatchHistory.Change {
        let entry = StoreEntry(key: key, value: Data(count: size), createRevision: 1, modifyRevision: revision)
        return WatchHistory.Change(.put(entry))
    }

    @Test func changesThatWereReceivedBeforeAreIgnored() {
        var history = WatchHistory(after: 5)
        check(!history.append([put("a", 4), put("a", 5)]))
        check(history.append([put("a", 5), put("a", 6)]))
        check(history.end == 6)
        check(history.changes(after: 5).map(\.revision) == [6])
        check(history.changes(after: 6).isEmpty)
        check(history.changes(after: 100).isEmpty)
    }

    @Test func changesAreInTheOrderOfTheirRevisions() {
        var history = WatchHistory(after: 0)
        check(history.append([put("a", 3), put("b", 1), put("c", 3), put("d", 2)]))
        check(history.changes(after: 0).map(\.revision) == [1, 2, 3, 3])
        check(history.end == 3)
    }

    @Test func revisionsAreRemovedAsAWhole() {
        var history = WatchHistory(after: 0, maxCount: 4)
        check(history.append([put("a", 1), put("b", 2), put("c", 2), put("d", 3), put("e", 4)]))
        check(history.start == 2)
        check(history.changes(after: history.start).map(\.key) == ["d", "e"])
    }

    @Test func neitherCountNorSizeGrows() {
        var history = WatchHistory(after: 0, maxCount: 8, maxSize: 1_000)
        for revision in 1...1_000 as ClosedRange<Int64> {
            check(history.append([put("a", revision, size: Int(revision % 7) * 50)]))
            let kept = history.changes(after: history.start)
            check(kept.count <= 8)
            check(Int64(kept.count) == history.end - history.start)
        }
    }

    @Test func aChangeThatIsLargerThanTheLimitIsNotKept() {
        var history = WatchHistory(after: 0, maxSize: 1_000)
        check(history.append([put("a", 1, size: 2_000)]))
        check(history.start == 1 && history.end == 1)
        check(history.append([put("a", 2, size: 10)]))
        check(history.changes(after: 1).map(\.revision) == [2])
    }
}
