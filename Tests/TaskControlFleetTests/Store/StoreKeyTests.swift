import Foundation
import Testing

@testable import TaskControlEtcd
@testable import TaskControlFleet

extension StoreKey: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(text) }
}

/// Keys that are one character in two forms: equal as texts, and two keys of every store.
@Suite struct StoreKeyTests {
    private let one = "caf\u{E9}"
    private let other = "cafe\u{301}"

    private func areDifferent<Value: Hashable>(_ make: (String) -> Value) -> Bool {
        make(one) != make(other) && Set([make(one), make(other), make(one)]).count == 2
    }

    @Test func valuesWithDifferentKeysAreDifferent() {
        #expect(one == other)
        #expect(areDifferent { StoreKey($0) })
        #expect(areDifferent { StoreEntry(key: $0, value: Data(), createRevision: 1, modifyRevision: 1) })
        #expect(areDifferent { StoreRange.key($0) })
        #expect(areDifferent { StoreRange.prefix($0) })
        #expect(areDifferent { StoreTransaction.Comparison.absent($0) })
        #expect(areDifferent { StoreTransaction.Comparison.present($0) })
        #expect(areDifferent { StoreTransaction.Comparison.createRevision($0, 1) })
        #expect(areDifferent { StoreTransaction.Comparison.modifyRevision($0, 1) })
        #expect(areDifferent { StoreTransaction.Comparison.value($0, Data()) })
        #expect(areDifferent { StoreTransaction.Operation.put($0, Data()) })
        #expect(areDifferent { StoreTransaction.Operation.delete(.key($0)) })
        #expect(areDifferent { StoreTransaction(success: [.read(.prefix($0))]) })
        #expect(areDifferent { StoreChanges.Change.delete(key: $0, revision: 1) })
        #expect(
            areDifferent {
                StoreChanges(
                    [.put(StoreEntry(key: $0, value: Data(), createRevision: 1, modifyRevision: 1))],
                    revision: 1
                )
            }
        )
        #expect(areDifferent { WatchHistory.Change(.delete(key: $0, revision: 1)) })
    }

    @Test func theOtherPartsOfAValueCountToo() {
        let (value, lease) = (Data("a".utf8), LeaseID(rawValue: 1))
        let comparisons: [StoreTransaction.Comparison] = [
            .absent("a"), .present("a"), .createRevision("a", 0), .createRevision("a", 1), .modifyRevision("a", 0),
            .modifyRevision("a", 1), .value("a", Data()), .value("a", value),
        ]
        #expect(Set(comparisons).count == comparisons.count)
        let operations: [StoreTransaction.Operation] = [
            .put("a", Data()), .put("a", value), .put("a", value, lease: lease), .delete(.key("a")),
            .delete(.prefix("a")), .read(.key("a")), .read(StoreRange(.key("a"), limit: 1)),
        ]
        #expect(Set(operations).count == operations.count)
        let changes: [StoreChanges.Change] = [
            .delete(key: "a", revision: 1), .delete(key: "a", revision: 2),
            .put(StoreEntry(key: "a", value: value, createRevision: 1, modifyRevision: 1)),
            .put(StoreEntry(key: "a", value: value, createRevision: 1, modifyRevision: 1, lease: lease)),
        ]
        #expect(Set(changes).count == changes.count)
    }
}
