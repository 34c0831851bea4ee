import Foundation
import TestSupport
import Testing

@testable import TaskControlEtcd
@testable import TaskControlFleet

/// The messages on the wire, as etcd 3.4.23 has sent and accepted them.
@Suite(.tags(.machine))
struct EtcdMessagesTests {
    private let keys = EtcdKeys(namespace: "n/")

    private func json(_ message: some Encodable) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(message)) as? NSDictionary)
    }

    private func decode<Message: Decodable>(_ text: String, as type: Message.Type = Message.self) throws -> Message {
        try JSONDecoder().decode(Message.self, from: Data(text.utf8))
    }

    @Test func aTransactionIsEncodedWithBase64AndTexts() throws {
        let transaction = StoreTransaction(
            comparisons: [
                .absent("a"), .present("b"), .createRevision("c", 7), .modifyRevision("d", 8),
                .value("e", Data("v".utf8)),
            ],
            success: [
                .put("a", Data("1".utf8), lease: LeaseID(rawValue: 123)), .delete(.prefix("p/")), .delete(.key("k")),
            ],
            failure: [.read(StoreRange(.prefix(""), order: .creation, limit: 2)), .read(.key("a"))]
        )
        let expected: NSDictionary = [
            "compare": [
                ["key": "bi9h", "target": "CREATE", "result": "EQUAL", "create_revision": "0"],
                ["key": "bi9i", "target": "CREATE", "result": "GREATER", "create_revision": "0"],
                ["key": "bi9j", "target": "CREATE", "result": "EQUAL", "create_revision": "7"],
                ["key": "bi9k", "target": "MOD", "result": "EQUAL", "mod_revision": "8"],
                ["key": "bi9l", "target": "VALUE", "result": "EQUAL", "value": "dg=="],
            ],
            "success": [
                ["request_put": ["key": "bi9h", "value": "MQ==", "lease": "123"]],
                ["request_delete_range": ["key": "bi9wLw==", "range_end": "bi9wMA=="]],
                ["request_delete_range": ["key": "bi9r"]],
            ],
            "failure": [
                [
                    "request_range": [
                        "key": "bi8=", "range_end": "bjA=", "limit": "2", "sort_order": "ASCEND",
                        "sort_target": "CREATE",
                    ]
                ],
                ["request_range": ["key": "bi9h"]],
            ],
        ]
        #expect(try json(keys.request(transaction)) == expected)
    }

    /// To etcd, the revisions of a key without an entry are 0.
    @Test func noEntryHasTheRevisionZero() throws {
        let transaction = StoreTransaction(
            comparisons: [.createRevision("a", 0), .modifyRevision("a", 0)],
            success: []
        )
        let comparisons = try keys.request(transaction).compare
        #expect(comparisons.map(\.create_revision) == [-1, nil] && comparisons.map(\.mod_revision) == [nil, -1])
    }

    @Test func allKeysAreAZeroWithoutANamespace() throws {
        let (key, end) = EtcdKeys(namespace: "").all
        #expect(key == Data([0]) && end == Data([0]))
        let (first, last) = keys.all
        #expect(first == Data("n/".utf8) && last == Data("n0".utf8))
    }

    @Test func aPrefixEndsAfterItsLastByte() throws {
        // The last byte of a scalar of two bytes: the end is not UTF-8.
        let (key, end) = EtcdKeys(namespace: "").bounds(.prefix("\u{E9}"))
        #expect(key == Data([0xC3, 0xA9]) && end == Data([0xC3, 0xAA]))
    }

    @Test func theLeaseZeroIsRefused() throws {
        let error = #expect(throws: StoreError.self) {
            try keys.request(StoreTransaction(success: [.put("a", Data(), lease: LeaseID(rawValue: 0))]))
        }
        #expect(error?.reason == .leaseNotFound)
    }

    @Test func anAnswerWithoutItsDefaultsIsDecoded() throws {
        let transaction = StoreTransaction(
            success: [.put("a", Data()), .read(.prefix("")), .delete(.key("b"))],
            failure: [.read(.key("a"))]
        )
        let success = try keys.result(
            decode(
                """
                {"header":{"cluster_id":"17300438976491492131","member_id":"13668033151171901709","revision":"3","raft_term":"2"},"succeeded":true,
                "responses":[{"response_put":{"header":{"revision":"3"}}},{"response_range":{"header":{"revision":"3"},
                "kvs":[{"key":"bi9h","create_revision":"2","mod_revision":"3","version":"2","value":"Yg==","lease":"-5"}],"count":"1"}},
                {"response_delete_range":{"header":{"revision":"3"},"deleted":"1"}}]}
                """
            ),
            of: transaction
        )
        let entry = StoreEntry(
            key: "a",
            value: Data("b".utf8),
            createRevision: 2,
            modifyRevision: 3,
            lease: LeaseID(rawValue: -5)
        )
        #expect(success == .init(succeeded: true, reads: [[entry]], revision: 3, term: 2))
        let failure = try keys.result(
            decode(
                #"{"header":{"revision":"3","raft_term":"18446744073709551615"},"responses":[{"response_range":{}}]}"#
            ),
            of: transaction
        )
        #expect(failure == .init(succeeded: false, reads: [[]], revision: 3, term: .max))
    }

    @Test(arguments: [
        #"{"header":{"revision":"3"},"succeeded":true}"#, #"{"succeeded":true,"responses":[{}]}"#, "{}",
    ])
    func anAnswerThatDoesNotFitTheTransactionIsAmbiguous(_ answer: String) throws {
        let error = #expect(throws: StoreError.self) {
            try keys.result(
                decode(answer),
                of: StoreTransaction(success: [.put("a", Data())], failure: [.read(.key("a"))])
            )
        }
        #expect(error?.reason == .ambiguous)
    }

    @Test func eventsOfAWatchAreDecoded() throws {
        let message: EtcdStreamMessage<EtcdWatchResponse> = try decode(
            """
            {"result":{"header":{"revision":"3"},"events":[{"kv":{"key":"bi9h","create_revision":"3","mod_revision":"3","version":"1","value":"Yg=="}},
            {"kv":{"key":"bi9i","create_revision":"3","mod_revision":"3","version":"1"}},{"type":"DELETE","kv":{"key":"bi9j","mod_revision":"3"}}]}}
            """
        )
        let changes = try #require(message.result?.events).compactMap(keys.change)
        #expect(
            changes == [
                .put(StoreEntry(key: "a", value: Data("b".utf8), createRevision: 3, modifyRevision: 3)),
                .put(StoreEntry(key: "b", value: Data(), createRevision: 3, modifyRevision: 3)),
                .delete(key: "c", revision: 3),
            ]
        )
    }

    @Test(arguments: ["grpc_code", "code"])
    func theErrorOfAStreamHasItsCodeUnderBothNames(_ name: String) throws {
        let message: EtcdStreamMessage<EtcdWatchResponse> = try decode(#"{"error":{"\#(name)":16}}"#)
        #expect(message.error?.failure.kind == .tokenRefused)
    }

    @Test func aNumberThatIsNotOneIsAnError() throws {
        for text in [#""x""#, #""""#, "true", "1.5"] {
            #expect(throws: DecodingError.self) { try decode("[\(text)]", as: [EtcdInteger].self) }
        }
        #expect(try decode(#"["7", 7, "-1"]"#, as: [EtcdInteger].self) == [7, 7, -1])
    }
}
