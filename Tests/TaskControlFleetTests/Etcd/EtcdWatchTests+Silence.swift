import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlEtcd
@testable import TaskControlFleet

/// Watches that receive nothing for a while.
extension EtcdWatchTests {
    @Test func aSilentConnectionIsMadeAgainWhenAnEntryHasChanged() async throws {
        try await inVirtualTime { sim in
            let hasChanged = Locked(false)
            let server = WatchServer { _ in
                // An entry was put.
                let entry =
                    #"{"header": {"revision": "11"}, "kvs": [{"key": "YQ==", "mod_revision": "11"}], "count": "1"}"#
                return (200, Data((hasChanged.withLock(\.self) ? entry : #"{"header": {"revision": "10"}}"#).utf8))
            }
            let keys = OrderRecorder<String>()
            let watch = Self.watch(Self.store(server), .prefix(""), after: 10, keys)
            guard let first = await server.connection() else { return }
            first.create()
            // Silent, and nothing has happened.
            try await Task.sleep(for: .seconds(60))
            sim.expect(server.connectionCount == 1, "the connection is in order")
            // The server loses this one.
            hasChanged.withLock { $0 = true }
            guard let second = await server.connection() else { return }
            sim.expect(second.start == 11, "\(second)")
            second.create()
            second.put("a", 11)
            try await Task.sleep(for: .seconds(60))
            sim.expect(keys.events == ["begun", "a11"] && server.connectionCount == 2, "\(keys.events)")
            watch.cancel()
            _ = await watch.result
        }
    }

    /// A store at a revision that grows with each read, because of other namespaces. The count of this one's entries is 2 at the first revision, and
    /// then `count`; a read that was compacted is refused.
    private static func quiet(count: Int, isCompacted: Locked<Bool>)
        -> @Sendable (URLRequest) async throws -> (
            Int, Data
        )
    {
        let revision = Locked<Int64>(20)
        return { request in
            let body = String(decoding: request.httpBody ?? Data(), as: UTF8.self)
            let isOfThePast = body.contains(#""revision":"10""#)
            if isOfThePast, isCompacted.withLock(\.self) {
                return (
                    400,
                    Data(#"{"message": "etcdserver: mvcc: required revision has been compacted", "code": 11}"#.utf8)
                )
            }
            let now = revision.withLock { revision in
                revision += 1
                return revision
            }
            let count = isOfThePast ? 2 : count
            return (200, Data(#"{"header": {"revision": "\#(now)"}, "count": "\#(count)"}"#.utf8))
        }
    }

    @Test func aSilentConnectionStaysWhileOthersWrite() async throws {
        try await inVirtualTime { sim in
            let isCompacted = Locked(false)
            let server = WatchServer(Self.quiet(count: 2, isCompacted: isCompacted))
            let watch = Self.watch(Self.store(server), .prefix(""), after: 10, OrderRecorder<String>())
            guard let first = await server.connection() else { return }
            first.create()
            try await Task.sleep(for: .seconds(60))
            sim.expect(server.connectionCount == 1, "no entry has changed")
            // The count that was read before still holds.
            isCompacted.withLock { $0 = true }
            try await Task.sleep(for: .seconds(60))
            sim.expect(server.connectionCount == 1, "no entry has changed")
            watch.cancel()
            _ = await watch.result
        }
    }

    /// An entry was removed, or it is not known whether one was.
    @Test(arguments: [(1, false), (2, true)])
    func aSilentConnectionIsMadeAgainUnlessAllEntriesAreTheSame(_ count: Int, _ isCompacted: Bool) async throws {
        try await inVirtualTime { sim in
            let server = WatchServer(Self.quiet(count: count, isCompacted: Locked(isCompacted)))
            let watch = Self.watch(Self.store(server), .prefix(""), after: 10, OrderRecorder<String>())
            guard let first = await server.connection() else { return }
            first.create()
            guard let second = await server.connection() else { return }
            sim.expect(second.start == 11 && second.host == "m1", "\(second)")
            watch.cancel()
            _ = await watch.result
        }
    }
}
