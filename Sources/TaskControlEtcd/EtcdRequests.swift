import Foundation
internal import TaskControlFleet

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

// The messages that etcd's JSON gateway sends. A field that has the default value of its type, such as `false`, 0 or an empty list, is absent.

struct EtcdHeader: Decodable, Hashable, Sendable {
    var revision: EtcdInteger?
    var raft_term: EtcdInteger?

    /// The Raft term of the leader that the answering member knew; 0 if the response has none.
    var term: UInt64 { UInt64(bitPattern: raft_term?.value ?? 0) }
}

struct EtcdKeyValue: Decodable, Hashable, Sendable {
    var key: Data?
    var value: Data?
    var create_revision: EtcdInteger?
    var mod_revision: EtcdInteger?
    var lease: EtcdInteger?
}

struct EtcdAuthenticateResponse: Decodable, Hashable, Sendable {
    var token: String?
}

struct EtcdGrantResponse: Decodable, Hashable, Sendable {
    var header: EtcdHeader?
    var ID: EtcdInteger?
    var TTL: EtcdInteger?
}

struct EtcdKeepAliveResponse: Decodable, Hashable, Sendable {
    var header: EtcdHeader?
    var ID: EtcdInteger?
    /// The remaining duration of the lease in seconds; `nil` if there is no such lease.
    var TTL: EtcdInteger?
}

struct EtcdRevokeResponse: Decodable, Hashable, Sendable {
    var header: EtcdHeader?
}

struct EtcdRangeResponse: Decodable, Hashable, Sendable {
    var header: EtcdHeader?
    var kvs: [EtcdKeyValue]?
    /// The number of entries of the range, regardless of the limit and the filters of the request.
    var count: EtcdInteger?
}

struct EtcdTransactionResponse: Decodable, Hashable, Sendable {
    struct Operation: Decodable, Hashable, Sendable {
        var response_range: EtcdRangeResponse?
    }

    var header: EtcdHeader?
    /// Whether the conditions held; `nil` stands for `false`.
    var succeeded: Bool?
    var responses: [Operation]?
}

struct EtcdWatchResponse: Decodable, Hashable, Sendable {
    struct Event: Decodable, Hashable, Sendable {
        /// The type of the event, `PUT` or `DELETE`; `nil` stands for `PUT`.
        var type: String?
        var kv: EtcdKeyValue?
    }

    var header: EtcdHeader?
    var created: Bool?
    var canceled: Bool?
    var cancel_reason: String?
    var compact_revision: EtcdInteger?
    var events: [Event]?
}

/// A line of a streamed response: the answer to a renewal, or a message of a watch. Either the result or the error is set.
struct EtcdStreamMessage<Message: Decodable & Sendable>: Decodable, Sendable {
    var result: Message?
    var error: EtcdErrorDetail?
}

/// The error in a line of a streamed response.
struct EtcdErrorDetail: Decodable, Hashable, Sendable {
    let message: String?
    /// The status code of gRPC; `nil` if the error does not contain it.
    let code: Int?

    private enum Key: String, CodingKey { case grpc_code, code, message }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        message = try container.decodeIfPresent(String.self, forKey: .message)
        // The second version of the gateway's library names it `code`.
        code =
            try container.decodeIfPresent(Int.self, forKey: .grpc_code)
            ?? container.decodeIfPresent(Int.self, forKey: .code)
    }

    /// The failure that the error describes. An error without a code counts as unknown (2 in gRPC).
    var failure: EtcdFailure { EtcdFailure(code: code ?? 2, message: message ?? "") }
}

/// The body of an HTTP response with an error status.
struct EtcdErrorResponse: Decodable, Hashable, Sendable {
    let message: String?
    /// The status code of gRPC; `nil` if the body does not contain it.
    let code: Int?

    private enum Key: String, CodingKey { case error, message, code }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        // A stream that fails at its beginning has the error of a stream, with the status of an error.
        if let detail = try? container.decode(EtcdErrorDetail.self, forKey: .error) {
            (message, code) = (detail.message, detail.code)
        } else {
            message = try container.decodeIfPresent(String.self, forKey: .message)
            code = try container.decodeIfPresent(Int.self, forKey: .code)
        }
    }
}

/// The conversion of an ``EtcdStore``'s keys, ranges and transactions to etcd's messages, and of etcd's responses to entries. Each key in etcd begins
/// with the store's namespace. In etcd, a range is described by its first key and by the key after its last key.
struct EtcdKeys: Hashable, Sendable {
    private let namespace: String

    init(namespace: String) { self.namespace = namespace }

    /// Returns the key in etcd for a key of the store: the namespace and the key, as UTF-8.
    func data(_ key: String) -> Data { Data((namespace + key).utf8) }

    /// Returns the key of the store for a key in etcd, which begins with the namespace. Bytes that are not UTF-8 are replaced by U+FFFD.
    func key(_ data: Data) -> String { String(decoding: data.dropFirst(namespace.utf8.count), as: UTF8.self) }

    /// The range of all keys of the namespace: its first key in etcd, and the key after its last key.
    var all: (key: Data, end: Data?) { bounds(.prefix("")) }

    /// Returns the range in etcd that contains the given keys: its first key, and the key after its last key; `end` is
    /// `nil` if the range is a single key.
    func bounds(_ keys: StoreRange.Keys) -> (key: Data, end: Data?) {
        switch keys {
        case .key(let key): return (data(key), nil)
        case .prefix(let prefix):
            let first = data(prefix)
            // In etcd, a zero byte as both bounds stands for all keys. The last byte is less than 255, which does not occur in UTF-8.
            guard let last = first.last else { return (Data([0]), Data([0])) }
            return (first, first.dropLast() + [last + 1])
        }
    }

    func entry(_ message: EtcdKeyValue) -> StoreEntry {
        let lease = message.lease?.value ?? 0
        return StoreEntry(
            key: key(message.key ?? Data()),
            value: message.value ?? Data(),
            createRevision: message.create_revision?.value ?? 0,
            modifyRevision: message.mod_revision?.value ?? 0,
            lease: lease == 0 ? nil : LeaseID(rawValue: lease)
        )
    }

    func change(_ event: EtcdWatchResponse.Event) -> StoreChanges.Change? {
        guard let message = event.kv else { return nil }
        return event.type == "DELETE"
            ? .delete(key: key(message.key ?? Data()), revision: message.mod_revision?.value ?? 0)
            : .put(entry(message))
    }
}

// MARK: Ranges

extension EtcdKeys {
    func request(_ range: StoreRange) -> EtcdRangeRequest {
        let (key, end) = bounds(range.keys)
        return EtcdRangeRequest(
            key: key,
            range_end: end,
            // To etcd, 0 is no limit.
            limit: range.limit.map { EtcdInteger(Int64(max(1, $0))) },
            sort_order: range.order == .creation ? .ascending : nil,
            sort_target: range.order == .creation ? .creation : nil
        )
    }

    func entries(_ response: EtcdRangeResponse?) -> [StoreEntry] { (response?.kvs ?? []).map(entry) }
}

// MARK: Transactions

extension EtcdKeys {
    /// Returns etcd's request for a transaction.
    ///
    /// - Throws: `StoreError` with the reason `leaseNotFound` for an entry with the lease ID 0, which stands for no lease in etcd.
    func request(_ transaction: StoreTransaction) throws -> EtcdTransactionRequest {
        EtcdTransactionRequest(
            compare: transaction.comparisons.map(compare),
            success: try transaction.success.map(operation),
            failure: try transaction.failure.map(operation)
        )
    }

    private func compare(_ comparison: StoreTransaction.Comparison) -> EtcdTransactionRequest.Compare {
        switch comparison {
        case .absent(let key):
            .init(key: data(key), target: .creation, result: .equal, create_revision: 0)
        case .present(let key):
            .init(key: data(key), target: .creation, result: .greater, create_revision: 0)
        case .createRevision(let key, let revision):
            .init(key: data(key), target: .creation, result: .equal, create_revision: ofEntry(revision))
        case .modifyRevision(let key, let revision):
            .init(key: data(key), target: .modification, result: .equal, mod_revision: ofEntry(revision))
        case .value(let key, let value):
            .init(key: data(key), target: .value, result: .equal, value: value)
        }
    }

    /// Returns the number that stands for a revision in a comparison. To etcd, a key without an entry has the revisions 0:
    /// no key has the revision −1, so that the comparison does not hold, as no entry has the revision 0.
    private func ofEntry(_ revision: Int64) -> EtcdInteger { revision == 0 ? -1 : EtcdInteger(revision) }

    private func operation(_ operation: StoreTransaction.Operation) throws -> EtcdTransactionRequest.Operation {
        switch operation {
        case .put(let key, let value, let lease):
            // To etcd, the lease 0 is none: the entry would never be removed.
            if lease?.rawValue == 0 { throw StoreError(.leaseNotFound, "no lease has the number 0") }
            let lease = lease.map { EtcdInteger($0.rawValue) }
            return .init(request_put: EtcdPutRequest(key: data(key), value: value, lease: lease))
        case .delete(let keys):
            let (key, end) = bounds(keys)
            return .init(request_delete_range: EtcdDeleteRequest(key: key, range_end: end))
        case .read(let range):
            return .init(request_range: request(range))
        }
    }

    /// Returns the result of a transaction from etcd's response.
    ///
    /// - Throws: `StoreError` with the reason `ambiguous` if the number of etcd's results differs from the number of operations, or the revision is
    ///   missing.
    func result(
        _ response: EtcdTransactionResponse,
        of transaction: StoreTransaction
    ) throws -> StoreTransaction.Result {
        let succeeded = response.succeeded ?? false
        let operations = succeeded ? transaction.success : transaction.failure
        let responses = response.responses ?? []
        guard responses.count == operations.count, let revision = response.header?.revision?.value else {
            throw StoreError(.ambiguous, "the answer does not match the transaction")
        }
        let reads = zip(operations, responses).compactMap { operation, response in
            if case .read = operation { entries(response.response_range) } else { nil }
        }
        return StoreTransaction.Result(
            succeeded: succeeded,
            reads: reads,
            revision: revision,
            term: response.header?.term ?? 0
        )
    }
}
