import Foundation
internal import TaskControlFleet

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
