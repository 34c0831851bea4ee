import Foundation

// The messages that etcd's JSON gateway receives: keys and values are base64, 64-bit integers are texts, enumerations are names. The names are those of
// etcd's protocol (`etcd/api/etcdserverpb/rpc.proto`), in snake case.

/// A 64-bit integer in etcd's JSON, where it is a string. A JSON number is decoded as well.
struct EtcdInteger: Hashable, Codable, Sendable, ExpressibleByIntegerLiteral {
    let value: Int64

    init(_ value: Int64) { self.value = value }

    init(integerLiteral value: Int64) { self.value = value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let text = try? container.decode(String.self) else {
            value = try container.decode(Int64.self)
            return
        }
        // Unsigned numbers, such as terms, have the same bits.
        guard let value = Int64(text) ?? UInt64(text).map(Int64.init(bitPattern:)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an integer")
        }
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(value))
    }
}

struct EtcdAuthenticateRequest: Encodable, Hashable, Sendable {
    var name: String
    var password: String
}

struct EtcdGrantRequest: Encodable, Hashable, Sendable {
    var TTL: EtcdInteger
}

/// The body of a request to renew or to revoke a lease.
struct EtcdLeaseRequest: Encodable, Hashable, Sendable {
    var ID: EtcdInteger
}

struct EtcdRangeRequest: Encodable, Hashable, Sendable {
    enum SortOrder: String, Encodable, Sendable { case ascending = "ASCEND" }
    enum SortTarget: String, Encodable, Sendable { case creation = "CREATE" }

    var key: Data
    var range_end: Data?
    var limit: EtcdInteger?
    var sort_order: SortOrder?
    var sort_target: SortTarget?
    var keys_only: Bool?
    var count_only: Bool?
    /// The revision at which entries are read; `nil` for the current revision.
    var revision: EtcdInteger?
    /// The first revision of a filter: only entries that were put at this revision or later are returned. `nil` for no
    /// filter.
    var min_mod_revision: EtcdInteger?
}

struct EtcdPutRequest: Encodable, Hashable, Sendable {
    var key: Data
    var value: Data
    var lease: EtcdInteger?
}

struct EtcdDeleteRequest: Encodable, Hashable, Sendable {
    var key: Data
    var range_end: Data?
}

struct EtcdTransactionRequest: Encodable, Hashable, Sendable {
    struct Compare: Encodable, Hashable, Sendable {
        enum Target: String, Encodable, Sendable {
            case creation = "CREATE"
            case modification = "MOD"
            case value = "VALUE"
        }
        enum Outcome: String, Encodable, Sendable {
            case equal = "EQUAL"
            case greater = "GREATER"
        }

        var key: Data
        var target: Target
        var result: Outcome
        var create_revision: EtcdInteger?
        var mod_revision: EtcdInteger?
        var value: Data?
    }

    /// An operation of a transaction. Exactly one of the fields is set.
    struct Operation: Encodable, Hashable, Sendable {
        var request_range: EtcdRangeRequest?
        var request_put: EtcdPutRequest?
        var request_delete_range: EtcdDeleteRequest?
    }

    var compare: [Compare]
    var success: [Operation]
    var failure: [Operation]
}

struct EtcdWatchRequest: Encodable, Hashable, Sendable {
    struct Create: Encodable, Hashable, Sendable {
        var key: Data
        var range_end: Data?
        var start_revision: EtcdInteger
        var progress_notify = true
    }

    var create_request: Create
}
