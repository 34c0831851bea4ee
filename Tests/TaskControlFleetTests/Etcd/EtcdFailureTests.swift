import Foundation
import TestSupport
import Testing

@testable import TaskControlEtcd
@testable import TaskControlFleet

/// Whether the request was executed, by the answer of etcd or the error of the transport.
@Suite(.tags(.machine))
struct EtcdFailureTests {
    struct Answer: Sendable, CustomTestStringConvertible {
        let status: Int
        let body: String
        let kind: EtcdFailure.Kind

        init(_ status: Int, _ code: Int, _ message: String, _ kind: EtcdFailure.Kind) {
            self.status = status
            body = #"{"error":"\#(message)","message":"\#(message)","code":\#(code)}"#
            self.kind = kind
        }

        init(_ status: Int, body: String, _ kind: EtcdFailure.Kind) {
            (self.status, self.body, self.kind) = (status, body, kind)
        }

        var testDescription: String { "\(status) \(body)" }
    }

    static let answers = [
        // As etcd 3.4.23 has sent them.
        Answer(404, 5, "etcdserver: requested lease not found", .leaseNotFound),
        Answer(400, 11, "etcdserver: too large lease TTL", .refused),
        Answer(400, 3, "etcdserver: duplicate key given in txn request", .refused),
        Answer(400, 3, "invalid character 'g' looking for beginning of value", .refused),
        Answer(412, 9, "etcdserver: authentication is not enabled", .authenticationNotEnabled),
        Answer(400, 3, "etcdserver: user name is empty", .tokenRefused),
        Answer(401, 16, "etcdserver: invalid auth token", .tokenRefused),
        Answer(400, 3, "etcdserver: authentication failed, invalid user ID or password", .unauthorized),
        Answer(403, 7, "etcdserver: permission denied", .unauthorized),
        Answer(503, 14, "etcdserver: no leader", .notExecuted),
        Answer(503, 14, "etcdserver: request timed out", .unknown),
        Answer(500, 2, "context deadline exceeded", .unknown),
        Answer(
            503,
            body:
                #"{"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader","http_status":"Service Unavailable"}}"#,
            .notExecuted
        ),
        // The second version of the gateway's library.
        Answer(401, body: #"{"error":{"code":16,"message":"etcdserver: invalid auth token"}}"#, .tokenRefused),
        Answer(401, body: #"{"error":{"code":16}}"#, .tokenRefused),
        Answer(404, body: "Not Found", .notExecuted),
        Answer(405, body: "Method Not Allowed", .refused),
        // As the sources of etcd have them.
        Answer(503, 14, "etcdserver: request timed out, possibly due to previous leader failure", .unknown),
        Answer(503, 14, "etcdserver: leader changed", .unknown),
        Answer(503, 14, "etcdserver: server stopped", .unknown),
        Answer(503, 14, "transport is closing", .unknown),
        Answer(503, 14, "etcdserver: rpc not supported for learner", .notExecuted),
        Answer(500, 2, "raft proposal dropped", .notExecuted),
        Answer(429, 8, "etcdserver: too many requests", .notExecuted),
        Answer(429, 8, "etcdserver: mvcc: database space exceeded", .unknown),
        Answer(429, 8, "grpc: received message larger than max (5000000 vs. 4194304)", .unknown),
        Answer(500, 15, "etcdserver: corrupt cluster", .refused),
        Answer(400, 3, "etcdserver: revision of auth store is old", .tokenRefused),
        Answer(499, 1, "context canceled", .unknown),
        // As proxies send them.
        Answer(401, body: "", .unauthorized),
        Answer(307, body: "", .refused),
        Answer(404, body: "", .notExecuted),
        Answer(408, body: "", .unknown),
        Answer(421, body: "", .notExecuted),
        Answer(429, body: "slow down", .notExecuted),
        Answer(502, body: "<html>", .unknown),
        Answer(503, body: "", .unknown),
        Answer(504, body: "{}", .unknown),
    ]

    @Test(arguments: answers) func anAnswerSaysWhetherTheRequestWasExecuted(_ answer: Answer) {
        #expect(EtcdFailure(status: answer.status, body: Data(answer.body.utf8)).kind == answer.kind)
    }

    @Test func eachKindHasItsReason() {
        let reasons: [(EtcdFailure.Kind, StoreError.Reason)] = [
            (.notExecuted, .unavailable), (.unknown, .ambiguous), (.tokenRefused, .unauthorized),
            (.unauthorized, .unauthorized), (.leaseNotFound, .leaseNotFound), (.refused, .refused),
            (.authenticationNotEnabled, .refused), (.tooLong, .ambiguous),
        ]
        for (kind, reason) in reasons { #expect(EtcdFailure(kind, "").storeError.reason == reason) }
    }

    @Test func anErrorOfTheTransportIsAmbiguousUnlessNothingCanHaveBeenSent() {
        func kind(_ code: URLError.Code, hasSent: Bool = false) -> EtcdFailure.Kind {
            EtcdFailure(transport: URLError(code), hasSent: hasSent).kind
        }
        for code: URLError.Code in [
            .cannotConnectToHost, .cannotFindHost, .secureConnectionFailed, .serverCertificateUntrusted, .badURL,
        ] {
            #expect(kind(code) == .notExecuted)
            // Foundation on Linux names the refusal of another address of the host.
            #expect(kind(code, hasSent: true) == .unknown)
        }
        for code: URLError.Code in [
            .timedOut, .networkConnectionLost, .notConnectedToInternet, .badServerResponse, .unknown, .cancelled,
        ] {
            #expect(kind(code) == .unknown)
        }
        struct Foreign: Error {}
        #expect(EtcdFailure(transport: Foreign(), hasSent: false).kind == .unknown)
    }

    @Test func onlyMessagesOfEtcdAreShown() {
        func text(_ message: String) -> String { EtcdFailure(code: 3, message: message).message }
        #expect(text("json: cannot unmarshal hunter2 into Go value") == "code 3")
        #expect(
            text("rpc error: code = PermissionDenied desc = etcdserver: permission denied")
                == "etcdserver: permission denied"
        )
        #expect(text("etcdserver: " + String(repeating: "x", count: 1_000)).count == 120)
        #expect(!EtcdFailure(status: 500, body: Data("token hunter2".utf8)).message.contains("hunter2"))
        let error = URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: "http://root:hunter2@host"])
        #expect(!EtcdFailure(transport: error, hasSent: true).message.contains("hunter2"))
    }

    @Test func aCanceledWatchSaysWhy() {
        func kind(_ reason: String) -> EtcdFailure.Kind { EtcdFailure(cancelReason: reason).kind }
        #expect(kind("rpc error: code = PermissionDenied desc = etcdserver: permission denied") == .unauthorized)
        #expect(kind("rpc error: code = Unauthenticated desc = etcdserver: invalid auth token") == .tokenRefused)
        #expect(kind("rpc error: code = InvalidArgument desc = etcdserver: user name is empty") == .tokenRefused)
        #expect(kind("etcdserver: mvcc: required revision has been compacted") == .unknown)
        #expect(kind("") == .unknown)
    }
}
