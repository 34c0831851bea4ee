import Foundation
import TaskControl
import TaskControlEtcd
import TaskControlFleet
import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

/// Which endpoints are asked, and how often, when some of them fail.
@Suite(.timeLimit(.minutes(5)))
struct EtcdFailoverTests {
    /// How a member answers.
    enum Member: Sendable {
        case works
        case refusesConnections
        case breaksOff
        case hasNoLeader
        case timesOut
        case refuses
        case isAnotherServer
        case forbids
        case hasNoLease

        func answer(_ request: URLRequest) throws -> (Int, Data) {
            switch self {
            case .works: (200, Data(Self.answers[request.url!.lastPathComponent]!.utf8))
            case .refusesConnections: throw URLError(.cannotConnectToHost)
            case .breaksOff: throw URLError(.networkConnectionLost)
            case .hasNoLeader: (503, Data(#"{"message": "etcdserver: no leader", "code": 14}"#.utf8))
            case .timesOut: (503, Data(#"{"message": "etcdserver: request timed out", "code": 14}"#.utf8))
            case .forbids: (403, Data(#"{"message": "etcdserver: permission denied", "code": 7}"#.utf8))
            case .hasNoLease: (404, Data(#"{"message": "etcdserver: requested lease not found", "code": 5}"#.utf8))
            case .isAnotherServer: (404, Data("Not Found".utf8))
            case .refuses: (400, Data(#"{"message": "etcdserver: request is too large", "code": 3}"#.utf8))
            }
        }

        private static let answers = [
            "range": #"{"header": {"revision": "5", "raft_term": "2"}}"#,
            "txn": #"{"header": {"revision": "5", "raft_term": "2"}, "succeeded": true, "responses": [{}]}"#,
            "grant": #"{"header": {"revision": "5", "raft_term": "2"}, "ID": "77", "TTL": "2"}"#,
            "keepalive": #"{"result": {"header": {"revision": "5", "raft_term": "2"}, "ID": "77", "TTL": "2"}}"#,
            "revoke": #"{"header": {"revision": "5"}}"#,
        ]
    }

    private func store(_ members: Member..., calls: Locked<[String]>) -> EtcdStore {
        EtcdStore(
            endpoints: members.indices.map { URL(string: "http://m\($0)")! },
            transport: MemberTransport(members: members, calls: calls),
            clock: TestClock()
        )
    }

    /// Sends nothing to a member that refuses connections; `MockTransport` reports every body as sent.
    private struct MemberTransport: HTTPTransport {
        let members: [Member]
        let calls: Locked<[String]>

        nonisolated(nonsending) func withResponse<Value>(
            to request: HTTPTransportRequest,
            _ receive: nonisolated(nonsending) (HTTPTransportResponse) async throws -> Value
        ) async throws -> Value {
            let host = request.request.url!.host!
            let member = members[Int(host.dropFirst())!]
            calls.withLock { $0.append(host) }
            if case .refusesConnections = member { _ = try member.answer(request.request) }
            return try await MockTransport { try member.answer($0) }.withResponse(to: request, receive)
        }
    }

    private static let write = StoreTransaction(success: [.put("a", Data())])
    private static let reading = StoreTransaction(success: [.read(.key("a"))])

    @Test(arguments: [Member.refusesConnections, .breaksOff, .hasNoLeader, .timesOut])
    func operationsThatMayBeRepeatedAskTheNextEndpoint(_ first: Member) async throws {
        let calls = Locked<[String]>([])
        let id = LeaseID(rawValue: 77)
        let operations: [@Sendable (EtcdStore) async throws -> Void] = [
            { _ = try await $0.read(.key("a")) }, { _ = try await $0.transact(Self.reading) },
            { _ = try await $0.grantLease(timeToLive: .seconds(2)) }, { _ = try await $0.renewLease(id) },
            { try await $0.revokeLease(id) },
        ]
        for operation in operations {
            calls.withLock { $0 = [] }
            try await operation(store(first, .works, calls: calls))
            #expect(calls.withLock(\.self) == ["m0", "m1"])
        }
    }

    @Test(arguments: [Member.refusesConnections, .hasNoLeader, .isAnotherServer])
    func aTransactionThatWasNotExecutedAsksTheNextEndpoint(_ first: Member) async throws {
        let calls = Locked<[String]>([])
        #expect(try await store(first, .works, calls: calls).transact(Self.write).succeeded)
        #expect(calls.withLock(\.self) == ["m0", "m1"])
    }

    @Test(arguments: [Member.breaksOff, .timesOut])
    func aTransactionThatMayHaveBeenExecutedIsAmbiguousAndNotSentAgain(_ first: Member) async throws {
        let calls = Locked<[String]>([])
        let store = store(first, .works, calls: calls)
        let error = await #expect(throws: StoreError.self) { try await store.transact(Self.write) }
        #expect(error?.reason == .ambiguous)
        #expect(calls.withLock(\.self) == ["m0"])
        // Later operations begin with the other endpoint.
        #expect(try await store.transact(Self.write).succeeded)
        #expect(calls.withLock(\.self) == ["m0", "m1"])
    }

    @Test func anAnswerThatWouldBeTheSameElsewhereIsFinal() async throws {
        let calls = Locked<[String]>([])
        let store = store(.refuses, .works, calls: calls)
        let error = await #expect(throws: StoreError.self) { try await store.read(.key("a")) }
        #expect(error?.reason == .refused)
        #expect(calls.withLock(\.self) == ["m0"])
    }

    @Test func aStoreWhoseEndpointsAllRefuseConnectionsIsUnavailable() async throws {
        let calls = Locked<[String]>([])
        let store = store(.refusesConnections, .hasNoLeader, calls: calls)
        for operation in [Self.write, Self.reading] {
            calls.withLock { $0 = [] }
            let error = await #expect(throws: StoreError.self) { try await store.transact(operation) }
            #expect(error?.reason == .unavailable)
            #expect(calls.withLock(\.self).sorted() == ["m0", "m1"])
        }
    }

    @Test func aGrantThatMayHaveBeenExecutedSomewhereIsAmbiguous() async throws {
        let store = store(.breaksOff, .refusesConnections, calls: Locked([]))
        let error = await #expect(throws: StoreError.self) { try await store.grantLease(timeToLive: .seconds(2)) }
        #expect(error?.reason == .ambiguous)
    }

    @Test(arguments: [Member.refuses, .forbids])
    func anErrorOfTheNextEndpointDoesNotHideThatARequestMayHaveBeenExecuted(_ second: Member) async throws {
        let store = store(.breaksOff, second, calls: Locked([]))
        let error = await #expect(throws: StoreError.self) { try await store.grantLease(timeToLive: .seconds(2)) }
        #expect(error?.reason == .ambiguous)
    }

    @Test func aLeaseThatTheNextEndpointDoesNotFindIsGone() async throws {
        let store = store(.breaksOff, .hasNoLease, calls: Locked([]))
        let error = await #expect(throws: StoreError.self) { try await store.renewLease(LeaseID(rawValue: 77)) }
        #expect(error?.reason == .leaseNotFound)
    }

    @Test func theEndpointThatAnsweredIsAskedFirstFromThenOn() async throws {
        let calls = Locked<[String]>([])
        let store = store(.refusesConnections, .works, .works, calls: calls)
        for _ in 0..<3 { _ = try await store.read(.key("a")) }
        #expect(calls.withLock(\.self) == ["m0", "m1", "m1", "m1"])
    }

    @Test func aStoreWithoutEndpointsSaysSo() async throws {
        let store = store(calls: Locked([]))
        let error = await #expect(throws: StoreError.self) { try await store.read(.key("a")) }
        #expect(error?.reason == .refused)
        #expect(error?.message.contains("endpoints") == true)
        let other = await #expect(throws: StoreError.self) { try await store.watch(.prefix(""), after: 0) { _ in } }
        #expect(other?.reason == .refused)
    }

    @Test func aMemberThatDoesNotAnswerIsLeftAtTheTimeLimit() async throws {
        try await inVirtualTime { sim in
            let calls = Locked<[String]>([])
            let store = EtcdStore(
                endpoints: ["http://m0", "http://m1"].map { URL(string: $0)! },
                transport: MockTransport { request in
                    calls.withLock { $0.append(request.url!.host!) }
                    if request.url!.host! == "m0" { try await Task.sleep(for: .seconds(1_000)) }
                    return try Member.works.answer(request)
                },
                attemptTimeout: longAttempt
            )
            let start = ContinuousClock.now
            let error = await failure { _ = try await store.transact(Self.write) } as? StoreError
            sim.expect(
                error?.reason == .ambiguous,
                "a transaction may have been executed: \(String(describing: error))"
            )
            sim.expect(start.duration(to: .now) >= .seconds(2), "the limit is two seconds")
            sim.expect(try await store.read(.key("a")).revision == 5, "the other member answers")
            sim.expect(calls.withLock(\.self) == ["m0", "m1"], "\(calls.withLock(\.self))")
        }
    }

    /// Two members, of which the first answers nothing.
    private static func storeWithASilentMember(_ calls: Locked<[String]>) -> EtcdStore {
        EtcdStore(
            endpoints: ["http://m0", "http://m1"].map { URL(string: $0)! },
            transport: MockTransport { request in
                calls.withLock { $0.append(request.url!.host!) }
                if request.url!.host! == "m0" { try await Task.sleep(for: .seconds(1_000)) }
                return try Member.works.answer(request)
            },
            attemptTimeout: longAttempt
        )
    }

    @Test func aCallerWithAShortDeadlineReachesTheNextEndpoint() async throws {
        try await inVirtualTime { sim in
            let calls = Locked<[String]>([])
            let store = Self.storeWithASilentMember(calls)
            let snapshot = try await withDeadline(in: .seconds(1)) { try await store.read(.key("a")) }
            sim.expect(snapshot.revision == 5, "the other member answers")
            sim.expect(calls.withLock(\.self) == ["m0", "m1"], "\(calls.withLock(\.self))")
        }
    }

    @Test func anEndpointThatHasNotAnsweredBeforeTheDeadlineIsNotAskedFirstAgain() async throws {
        try await inVirtualTime { sim in
            let calls = Locked<[String]>([])
            let store = Self.storeWithASilentMember(calls)
            let error = await failure {
                _ = try await withDeadline(in: .seconds(1)) { try await store.transact(Self.write) }
            }
            sim.expect(error is DeadlineExceededError, "a write is not sent again: \(String(describing: error))")
            let result = try await withDeadline(in: .seconds(1)) { try await store.transact(Self.write) }
            sim.expect(result.succeeded && calls.withLock(\.self) == ["m0", "m1"], "\(calls.withLock(\.self))")
        }
    }

    @Test func aCallerThatLeavesBeforeTheAnswerLetsOthersBeginElsewhere() async throws {
        try await inVirtualTime { sim in
            let calls = Locked<[String]>([])
            let store = Self.storeWithASilentMember(calls)
            let task = Task { try await store.read(.key("a")) }
            try await Task.sleep(for: .milliseconds(10))
            task.cancel()
            _ = await task.result
            _ = try await store.read(.key("a"))
            sim.expect(calls.withLock(\.self) == ["m0", "m1"], "\(calls.withLock(\.self))")
        }
    }

    @Test func aCancelledCallerReceivesACancellationError() async throws {
        try await inVirtualTime { sim in
            let store = EtcdStore(
                endpoints: ["http://m0", "http://m1"].map { URL(string: $0)! },
                transport: MockTransport { request in
                    try await Task.sleep(for: .seconds(1))
                    return try Member.works.answer(request)
                },
                attemptTimeout: longAttempt
            )
            let task = Task { try await store.transact(Self.write) }
            sim.cancelAtAnyPoint(task)
            switch await task.result {
            case .success(let result): sim.expect(result.succeeded, "it was not cancelled in time")
            case .failure(let error): sim.expect(error is CancellationError, "\(error)")
            }
        }
    }

    @Test func aCallerThatIsCancelledDuringARefusalReceivesACancellationError() async throws {
        let task = Locked<Task<Void, any Error>?>(nil)
        let store = EtcdStore(
            endpoints: [URL(string: "http://m0")!],
            transport: MockTransport { request in
                task.withLock(\.self)?.cancel()
                return try Member.refuses.answer(request)
            },
            attemptTimeout: longAttempt
        )
        let begin = Gate()
        let caller = Task {
            try await begin.wait()
            _ = try await store.read(.key("a"))
        }
        task.withLock { $0 = caller }
        begin.open()
        await #expect(throws: CancellationError.self) { try await caller.value }
    }

    @Test(arguments: [
        (Duration.milliseconds(1_500), "2"), (.zero, "1"), (.seconds(-5), "1"), (.seconds(60), "60"),
        (.milliseconds(60_001), "61"), (.seconds(Int64.max), "9000000000"),
    ])
    func aDurationIsRoundedUpToSecondsThatEtcdAccepts(_ duration: Duration, _ seconds: String) async throws {
        let transport = MockTransport { try Member.works.answer($0) }
        let store = EtcdStore(endpoints: [URL(string: "http://m0")!], transport: transport, attemptTimeout: longAttempt)
        let lease = try await store.grantLease(timeToLive: duration)
        #expect(lease == StoreLease(id: LeaseID(rawValue: 77), timeToLive: .seconds(2), term: 2))
        #expect(transport.requests.first?.httpBody == Data(#"{"TTL":"\#(seconds)"}"#.utf8))
    }

    @Test func aRenewalWithoutADurationHasNoLease() async throws {
        let gone = Data(#"{"result": {"header": {"revision": "5"}, "ID": "77"}}"#.utf8)
        let store = EtcdStore(
            endpoints: [URL(string: "http://m0")!],
            transport: MockTransport { _ in (200, gone) },
            attemptTimeout: longAttempt
        )
        let error = await #expect(throws: StoreError.self) { try await store.renewLease(LeaseID(rawValue: 77)) }
        #expect(error?.reason == .leaseNotFound)
    }

    @Test func aRenewalWithoutAResultIsAmbiguous() async throws {
        let store = EtcdStore(
            endpoints: [URL(string: "http://m0")!],
            transport: MockTransport { _ in (200, Data("{}".utf8)) },
            attemptTimeout: longAttempt
        )
        let error = await #expect(throws: StoreError.self) { try await store.renewLease(LeaseID(rawValue: 77)) }
        #expect(error?.reason == .ambiguous)
    }

    @Test func aRevocationOfALeaseThatIsGoneDoesNothing() async throws {
        let gone = Data(#"{"message": "etcdserver: requested lease not found", "code": 5}"#.utf8)
        let store = EtcdStore(
            endpoints: [URL(string: "http://m0")!],
            transport: MockTransport { _ in (404, gone) },
            attemptTimeout: longAttempt
        )
        try await store.revokeLease(LeaseID(rawValue: 77))
    }

    @Test func everyRequestAsksForAnErrorFromAMemberWithoutALeader() async throws {
        let transport = MockTransport { try Member.works.answer($0) }
        let store = EtcdStore(
            endpoints: [URL(string: "http://m0:1/")!],
            transport: transport,
            attemptTimeout: longAttempt
        )
        _ = try await store.read(.key("a"))
        let request = try #require(transport.requests.first)
        #expect(request.url?.absoluteString == "http://m0:1/v3/kv/range")
        #expect(request.value(forHTTPHeaderField: "Grpc-Metadata-hasleader") == "true")
        #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
    }
}
