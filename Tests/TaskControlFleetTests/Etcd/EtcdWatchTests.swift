import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlEtcd
@testable import TaskControlFleet

/// The one connection of all watches of a store, in virtual time.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct EtcdWatchTests {
    static func store(_ server: WatchServer, credentials: EtcdStore.Credentials? = nil) -> EtcdStore {
        EtcdStore(
            endpoints: [URL(string: "http://m0")!, URL(string: "http://m1")!],
            credentials: credentials,
            transport: server,
            attemptTimeout: longAttempt
        )
    }

    /// The keys that a watch has reported, and "?" for a report that is not complete.
    static func watch(
        _ store: EtcdStore,
        _ range: StoreRange,
        after revision: Int64,
        _ keys: OrderRecorder<String>
    ) -> Task<Void, any Error> {
        Task {
            try await store.watch(range, after: revision) { report in
                if !report.isComplete { keys.record("?") }
                if report.changes.isEmpty, report.isComplete { keys.record("begun") }
                for case .put(let entry) in report.changes { keys.record("\(entry.key)\(entry.modifyRevision)") }
            }
        }
    }

    /// Answers reads with a revision.
    static func revision(_ revision: Int64) -> @Sendable (URLRequest) async throws -> (Int, Data) {
        { _ in (200, Data(#"{"header": {"revision": "\#(revision)"}}"#.utf8)) }
    }

    @Test func watchersShareAConnectionAndReceiveTheirRangesOnly() async throws {
        try await inVirtualTime { sim in
            let server = WatchServer(Self.revision(12))
            let store = Self.store(server)
            let (all, onlyA) = (OrderRecorder<String>(), OrderRecorder<String>())
            let first = Self.watch(store, .prefix(""), after: 10, all)
            guard let connection = await server.connection() else { return }
            sim.expect(connection.start == 11 && connection.host == "m0", "it begins after the revision")
            let second = Self.watch(store, .key("a"), after: 10, onlyA)
            connection.create()
            connection.put("a", 11)
            connection.put("b", 12)
            try await Task.sleep(for: .milliseconds(10))
            sim.expect(all.events == ["begun", "a11", "b12"], "\(all.events)")
            sim.expect(onlyA.events == ["begun", "a11"], "\(onlyA.events)")
            sim.expect(server.connectionCount == 1, "one connection")
            first.cancel()
            _ = await first.result
            try await Task.sleep(for: .milliseconds(10))
            sim.expect(server.openConnections == 1, "the second still watches")
            second.cancel()
            _ = await second.result
            try await Task.sleep(for: .milliseconds(10))
            sim.expect(server.openConnections == 0, "the last one ends the connection")
        }
    }

    @Test func aConnectionThatBreaksIsContinuedAtTheNextEndpoint() async throws {
        try await inVirtualTime { sim in
            let server = WatchServer(Self.revision(12))
            let keys = OrderRecorder<String>()
            let watch = Self.watch(Self.store(server), .prefix(""), after: 10, keys)
            guard let first = await server.connection() else { return }
            first.create()
            first.put("a", 11)
            first.end()
            guard let second = await server.connection() else { return }
            sim.expect(second.start == 12 && second.host == "m1", "after the last change, elsewhere: \(second)")
            second.create()
            // The server repeats itself.
            second.put("a", 11)
            second.put("b", 12)
            try await Task.sleep(for: .milliseconds(10))
            sim.expect(keys.events == ["begun", "a11", "b12"], "\(keys.events)")
            watch.cancel()
            _ = await watch.result
        }
    }

    @Test func aConnectionThatDoesNotOpenIsLeft() async throws {
        try await inVirtualTime { sim in
            let server = WatchServer(Self.revision(10))
            let keys = OrderRecorder<String>()
            let watch = Self.watch(Self.store(server), .prefix(""), after: 10, keys)
            _ = await server.connection()
            guard let second = await server.connection() else { return }
            sim.expect(second.host == "m1" && second.start == 11, "\(second)")
            second.create()
            try await Task.sleep(for: .milliseconds(10))
            sim.expect(keys.events == ["begun"] && server.openConnections == 1, "\(keys.events)")
            watch.cancel()
            _ = await watch.result
        }
    }

    @Test func aCompactionIsReportedAsIncomplete() async throws {
        try await inVirtualTime { sim in
            let server = WatchServer(Self.revision(40))
            let keys = OrderRecorder<String>()
            let watch = Self.watch(Self.store(server), .prefix(""), after: 10, keys)
            guard let first = await server.connection() else { return }
            first.create()
            first.send(
                #"{"result": {"header": {"raft_term": "2"}, "canceled": true, "compact_revision": "30"}}"#
            )
            guard let second = await server.connection() else { return }
            sim.expect(second.start == 31, "\(second)")
            second.create()
            // A watcher that has not taken the report of the loss yet receives one that includes the next change.
            try await keys.waitForEvents(count: 2)
            second.put("a", 41)
            try await keys.waitForEvents(count: 3)
            sim.expect(keys.events == ["begun", "?", "a41"], "\(keys.events)")
            watch.cancel()
            _ = await watch.result
        }
    }

    @Test func aMessageThatIsTooLongIsReportedAsIncompleteAndNotReadAgain() async throws {
        try await inVirtualTime { sim in
            let server = WatchServer(Self.revision(12))
            let connection = EtcdConnection(
                endpoints: [URL(string: "http://m0")!],
                credentials: nil,
                transport: server,
                attemptTimeout: .seconds(2),
                clock: ContinuousClock(),
                name: nil,
                maxResponse: 1_000
            )
            let watches = EtcdWatches(
                connection,
                EtcdKeys(namespace: "taskcontrol/"),
                openTimeout: .seconds(2),
                silenceLimit: .seconds(10),
                clock: ContinuousClock()
            )
            let keys = OrderRecorder<String>()
            let watch = Task {
                try await watches.watch(.prefix(""), after: 10) { report in
                    if !report.isComplete { keys.record("?\(report.revision)") }
                    for case .put(let entry) in report.changes { keys.record("\(entry.key)\(entry.modifyRevision)") }
                }
            }
            guard let first = await server.connection() else { return }
            first.create()
            first.put(String(repeating: "a", count: 2_000), 11)
            guard let second = await server.connection() else { return }
            sim.expect(second.start == 13, "after the revision of the store: \(second)")
            second.create()
            try await keys.waitForEvents(count: 1)
            second.put("b", 13)
            try await keys.waitForEvents(count: 2)
            sim.expect(keys.events == ["?12", "b13"], "\(keys.events)")
            watch.cancel()
            _ = await watch.result
        }
    }

    @Test func aWatchAfterTheLargestRevisionBegins() async throws {
        try await inVirtualTime { sim in
            let server = WatchServer(Self.revision(12))
            let watch = Self.watch(Self.store(server), .prefix(""), after: .max, OrderRecorder<String>())
            guard let connection = await server.connection() else { return }
            sim.expect(connection.start == .max, "\(connection)")
            watch.cancel()
            _ = await watch.result
        }
    }

    /// Fails from a number of sleeps on.
    private struct FailingClock: Clock {
        struct Failure: Error {}

        let sleeps = Locked(0)
        let last: Int

        var now: ContinuousClock.Instant { .now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            let isLast = sleeps.withLock { count in
                count += 1
                return count >= last
            }
            if isLast { throw Failure() }
            try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
        }
    }

    /// A clock that fails while a connection is open, and between two connections.
    @Test(arguments: [1, 2, 3])
    func aClockThatFailsEndsAllWatches(_ sleep: Int) async throws {
        try await inVirtualTime { sim in
            let server = WatchServer(Self.revision(10))
            let store = EtcdStore(
                endpoints: [URL(string: "http://m0")!],
                transport: server,
                clock: FailingClock(last: sleep)
            )
            let watches = (0..<2).map { _ in Self.watch(store, .prefix(""), after: 10, OrderRecorder<String>()) }
            let serving = Task {
                while let connection = await server.connection() {
                    connection.create()
                    try? await Task.sleep(for: .seconds(1))
                    connection.end()
                }
            }
            for watch in watches {
                let result = await watch.result
                let error = await failure { try result.get() } as? StoreError
                sim.expect(error?.reason == .refused, "\(result)")
            }
            serving.cancel()
            await serving.value
        }
    }

    /// The second is the answer of earlier versions of etcd to a token that has expired.
    @Test(arguments: [
        "rpc error: code = Unauthenticated desc = etcdserver: invalid auth token",
        "rpc error: code = PermissionDenied desc = etcdserver: permission denied",
    ])
    func aTokenThatAWatchIsRefusedWithIsObtainedAgain(_ reason: String) async throws {
        try await inVirtualTime { sim in
            let logins = Locked(0)
            let server = WatchServer { _ in
                let login = logins.withLock { count in
                    count += 1
                    return count
                }
                return (200, Data(#"{"token": "token-\#(login)"}"#.utf8))
            }
            let keys = OrderRecorder<String>()
            let store = Self.store(
                server,
                credentials: EtcdStore.Credentials(user: "jobs", password: "secret", allowsCleartext: true)
            )
            let watch = Self.watch(store, .prefix(""), after: 10, keys)
            guard let first = await server.connection() else { return }
            sim.expect(first.token == "token-1", "\(first)")
            let refusal =
                #"{"result": {"watch_id": "-1", "created": true, "canceled": true, "cancel_reason": "\#(reason)"}}"#
            first.send(refusal)
            guard let second = await server.connection() else { return }
            sim.expect(second.token == "token-2", "\(second)")
            second.create()
            try await Task.sleep(for: .milliseconds(10))
            sim.expect(keys.events == ["begun"], "\(keys.events)")
            // Refused twice in a row: it is not out of date.
            second.send(refusal)
            guard let third = await server.connection() else { return }
            third.send(refusal)
            let result = await watch.result
            let error = await failure { try result.get() } as? StoreError
            sim.expect(error?.reason == .unauthorized, "\(result)")
        }
    }

    @Test func aLackOfPermissionEndsAllWatches() async throws {
        try await inVirtualTime { sim in
            let server = WatchServer(Self.revision(10))
            let store = Self.store(server)
            let watches = (0..<2).map { _ in Self.watch(store, .prefix(""), after: 10, OrderRecorder<String>()) }
            guard let connection = await server.connection() else { return }
            try await Task.sleep(for: .milliseconds(1))
            connection.send(
                #"{"result": {"created": true, "canceled": true, "cancel_reason": "rpc error: code = PermissionDenied desc = etcdserver: permission denied"}}"#
            )
            for watch in watches {
                let result = await watch.result
                let error = await failure { try result.get() } as? StoreError
                sim.expect(error?.reason == .unauthorized, "\(result)")
            }
            sim.expect(server.connectionCount == 1, "it is not tried again")
        }
    }

    @Test func aMemberWithoutALeaderIsLeft() async throws {
        try await inVirtualTime { sim in
            let server = WatchServer(Self.revision(10))
            let keys = OrderRecorder<String>()
            let watch = Self.watch(Self.store(server), .prefix(""), after: 10, keys)
            guard let first = await server.connection() else { return }
            first.create()
            first.send(#"{"error": {"grpc_code": 14, "http_code": 503, "message": "etcdserver: no leader"}}"#)
            guard let second = await server.connection() else { return }
            sim.expect(second.host == "m1", "\(second)")
            watch.cancel()
            _ = await watch.result
        }
    }

    /// A watcher is cancelled at any point, while others come, go and receive changes.
    @Test func watchersThatLeaveAtAnyPointLeaveNothingBehind() async throws {
        try await inVirtualTime(1_000) { sim in
            let server = WatchServer(Self.revision(13))
            let store = Self.store(server)
            let keys = (0..<3).map { _ in OrderRecorder<String>() }
            let watches = (0..<3).map { Self.watch(store, .prefix(""), after: 10 - Int64($0), keys[$0]) }
            sim.cancelAtAnyPoint(watches[0])
            let serving = Task {
                while let connection = await server.connection() {
                    connection.create()
                    for revision in max(11, connection.start)...13 { connection.put("a", revision) }
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            for number in 1...2 {
                sim.expect(keys[number].events == ["begun", "a11", "a12", "a13"], "\(keys[number].events)")
            }
            for watch in watches { watch.cancel() }
            for watch in watches { _ = await watch.result }
            try await Task.sleep(for: .milliseconds(10))
            sim.expect(server.openConnections == 0, "\(server.openConnections) connections are open")
            serving.cancel()
            await serving.value
        }
    }
}
