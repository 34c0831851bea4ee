import Foundation
import TaskControlFleet
import Testing

/// The operations of a store that are public.
@Suite(.timeLimit(.minutes(15)))
struct CommitTests {
    /// A type of a user that wraps a store of this package.
    private struct Named: CoordinationStore {
        let name: String
        let store: MemoryStore

        var backend: StoreBackend { store.backend }
    }

    private let store: any CoordinationStore = Named(name: "settings", store: MemoryStore())

    private func value(of key: String) async throws -> String? {
        try await store.value(for: key).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func aTransactionChangesAllItsKeysOrNone() async throws {
        #expect(try await store.commit(StoreTransaction(put: ["a": Data("1".utf8), "b": Data("2".utf8)])))
        #expect(try await [value(of: "a"), value(of: "b"), value(of: "c")] == ["1", "2", nil])
        let change = StoreTransaction(if: [.absent("a")], put: ["c": Data()], delete: ["b"])
        #expect(try await !store.commit(change))
        #expect(try await [value(of: "b"), value(of: "c")] == ["2", nil])
        let other = StoreTransaction(
            if: [.value("a", Data("1".utf8)), .present("b")],
            put: ["a": Data("3".utf8)],
            delete: ["b"]
        )
        #expect(try await store.commit(other))
        #expect(try await [value(of: "a"), value(of: "b")] == ["3", nil])
    }

    @Test func aKeyThatIsPutAndDeletedIsRefused() async throws {
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.commit(StoreTransaction(put: ["a": Data()], delete: ["a"]))
        }
        #expect(error?.reason == .refused)
    }

    @Test func aGuardedTransactionIsMadeByTheHolderAlone() async throws {
        let change = StoreTransaction(put: ["region": Data("eu".utf8)])
        let late = try await withLease("settings", in: store, timeToLive: .seconds(3_600)) { lease in
            let early = lease.guarded(StoreTransaction(put: ["region": Data("us".utf8)]))
            let isMade = try await store.commit(early)
            #expect(isMade)
            return lease.guarded(change)
        }
        #expect(try await !store.commit(late))
        #expect(try await value(of: "region") == "us")
    }
}
