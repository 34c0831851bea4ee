import Foundation
@_spi(Store) import TaskControlFleet
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

    @Test func aCommitChangesAllItsKeysOrNone() async throws {
        #expect(try await store.commit(put: ["a": Data("1".utf8), "b": Data("2".utf8)]))
        #expect(try await [value(of: "a"), value(of: "b"), value(of: "c")] == ["1", "2", nil])
        #expect(try await !store.commit(if: ["a": nil], put: ["c": Data()], delete: ["b"]))
        #expect(try await !store.commit(if: ["a": Data("1".utf8), "c": Data()], delete: ["b"]))
        #expect(try await [value(of: "b"), value(of: "c")] == ["2", nil])
        let isMade = try await store.commit(
            if: ["a": Data("1".utf8), "c": nil],
            put: ["a": Data("3".utf8)],
            delete: ["b"]
        )
        #expect(isMade)
        #expect(try await [value(of: "a"), value(of: "b")] == ["3", nil])
    }

    @Test func aKeyThatIsPutAndDeletedIsRefused() async throws {
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.commit(put: ["a": Data()], delete: ["a"])
        }
        #expect(error?.reason == .refused)
    }

    @Test func aCommitUnderALeaseIsMadeByTheHolderAlone() async throws {
        let late = try await withLease("settings", in: store, timeToLive: .seconds(3_600)) { lease in
            let isMade = try await store.commit(put: ["region": Data("us".utf8)], under: lease)
            #expect(isMade)
            return lease
        }
        #expect(try await !store.commit(put: ["region": Data("eu".utf8)], under: late))
        #expect(try await !store.commit(under: late))
        #expect(try await value(of: "region") == "us")
    }
}
