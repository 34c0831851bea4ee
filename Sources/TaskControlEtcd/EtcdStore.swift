public import Foundation
import TaskControl
@_spi(Store) public import TaskControlFleet
public import TaskControlHTTP

/// A store in an etcd cluster, for processes on several machines.
///
/// ```swift
/// let store = EtcdStore(endpoints: [a, b, c], credentials: EtcdStore.Credentials(user: "jobs", password: password))
/// try await withLease("nightly", in: store) { lease in … }
/// ```
///
/// The store sends its requests to the JSON gateway that each member of etcd 3.4 and later serves at its client URL, over an HTTP transport. Each
/// entry of the store is one key in etcd, which begins with the store's namespace.
///
/// ## Endpoints and failures
/// A request goes first to the endpoint that the store uses at present: in the beginning, the first one. If an attempt
/// fails, or if the caller's deadline or cancellation ends it before the endpoint has answered, the store uses the next
/// endpoint from then on (after the last one, the first). A failed request is sent to that endpoint too if it may be
/// sent again. Each endpoint is tried once per request.
///
/// Whether a request may be sent again depends on its kind:
/// - Reads, and the renewal, revocation and grant of a lease, are sent again after every failure of the network or of
///   an etcd member. (If a grant is executed twice, the second lease has no entries, and expires.)
/// - A transaction that writes is sent again only if it was certainly not executed, for example because the connection
///   was refused or the member had no leader. In all other cases the store throws an error with the reason
///   `StoreError.Reason.ambiguous`. The body of the HTTP request can be read only once, so neither the HTTP client
///   nor a redirect sends it again.
///
/// Each attempt has a time limit, `attemptTimeout`. If the caller has a deadline, the limit can be shorter: a request
/// that may be sent again divides the remaining time equally among the endpoints that it has not tried yet.
///
/// An error that every member would return, such as "permission denied", is thrown without trying another endpoint.
///
/// ## Watches
/// All watches of a store share one connection, which watches all keys of the namespace: a process has one such
/// connection per store, regardless of the number of its leases. When the connection ends, the store makes a new one
/// that continues after the last received revision. If the connection has received no message for `silenceLimit`, the
/// store reads the namespace, and makes a new connection if entries of the namespace have changed since the last
/// message. The connection has no caller's task-locals and no deadline.
///
/// ## Authentication
/// With credentials, all endpoints must be `https`, unless the credentials permit clear text (``EtcdStore/Credentials``):
/// otherwise each operation throws `StoreError.Reason.refused`, and nothing is sent. The store obtains a token from
/// etcd, which all operations use. When etcd refuses the token, the
/// store obtains a new one, and sends the refused request again. (By default, etcd's tokens expire 5 minutes after
/// their last use.) The user needs the permission to read and write the keys that begin with the namespace, for
/// example:
///
/// `etcdctl role grant-permission jobs --prefix readwrite taskcontrol/`
///
/// ## On Linux
/// On Linux, the store needs the package trait `AsyncHTTPClient`, or a transport of your own. `URLSession` on Linux
/// crashes when a response has trailers after a chunked body (Swift 6.3), and the gateway of etcd 3.4 and 3.5 sends
/// such a response for every error, for example when a lease has expired. For this reason the initializer with the
/// parameter `transport` traps on Linux if the transport is a `URLSessionTransport`. Without the trait, there is no
/// default transport.
///
/// ## TLS
/// The transport is responsible for TLS: use endpoints with the scheme `https`. To trust your own certificate authority, or to send a client
/// certificate, configure `URLSession` or AsyncHTTPClient. Through the gateway, etcd does not accept the name in a client certificate as the user:
/// use credentials.
///
/// ## Diagnostics
/// Events, errors and traces contain the hosts of endpoints and etcd's error messages. They contain neither credentials nor keys nor values.
public final class EtcdStore: CoordinationStore, StoreOperations {
    private let keys: EtcdKeys
    private let connection: EtcdConnection
    private let watches: EtcdWatches

    /// The connection to the store, which is opaque.
    ///
    /// - Note: Only with `@_spi(Store) import TaskControlFleet`.
    @_spi(Store) public var backend: StoreBackend { StoreBackend(self) }

    /// Creates a store that sends its requests with a given transport. Nothing is sent before the first operation.
    ///
    /// - Parameters:
    ///   - endpoints: The client URLs of etcd's members, such as `https://10.0.0.1:2379`, in the order in which the
    ///     store tries them. If many processes use the cluster, shuffle the array in each of them, so that they do not
    ///     all begin with the same member. With an empty array, every operation throws. A user and a password in a URL
    ///     are passed to the transport, and are not used as etcd's credentials.
    ///   - credentials: The user as which the store authenticates; `nil` if the cluster does not use authentication. With
    ///     credentials, all endpoints must be `https`, unless `allowsCleartext` of the credentials permits others.
    ///   - namespace: The prefix of all keys that the store uses in etcd. Stores with different namespaces do not see each other's entries, unless
    ///     one namespace is a prefix of the other.
    ///   - transport: The HTTP transport. On Linux, it must not be a `URLSessionTransport`: the initializer traps. If
    ///     the transport ends responses that are silent for some time, it also ends the connection of the watches, and
    ///     the store opens a new one.
    ///   - attemptTimeout: The time limit of one attempt to send a request to one endpoint. By default 2 seconds: twice
    ///     etcd's default election timeout, and short enough for several attempts within a lease of 15 seconds. Less
    ///     than 1 ms counts as 1 ms.
    ///   - silenceLimit: The time without a message from etcd after which the store reads the namespace to check
    ///     whether its watches have missed a change. By default 10 seconds. Less than 1 ms counts as 1 ms.
    ///   - name: The name shown in diagnostics.
    ///   - clock: The clock that measures `attemptTimeout`, `silenceLimit`, and the delays before the connection of the watches is opened again.
    public init(
        endpoints: [URL],
        credentials: EtcdStore.Credentials? = nil,
        namespace: String = "taskcontrol/",
        transport: any HTTPTransport,
        attemptTimeout: Duration = .seconds(2),
        silenceLimit: Duration = .seconds(10),
        name: String? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        #if canImport(FoundationNetworking)
        insist(
            !(transport is URLSessionTransport),
            "EtcdStore: URLSession on Linux ends the process when etcd answers with an error. Use AsyncHTTPClientTransport, with the package trait AsyncHTTPClient."
        )
        #endif
        keys = EtcdKeys(namespace: namespace)
        connection = EtcdConnection(
            endpoints: endpoints,
            credentials: credentials,
            transport: transport,
            attemptTimeout: attemptTimeout,
            clock: clock,
            name: name
        )
        // Opening the connection takes about as long as a request.
        watches = EtcdWatches(
            connection,
            keys,
            openTimeout: max(.milliseconds(1), attemptTimeout).saturated,
            silenceLimit: max(.milliseconds(1), silenceLimit).saturated,
            clock: clock
        )
    }

    #if AsyncHTTPClient || !canImport(FoundationNetworking)
    /// Creates a store that sends its requests with the default transport. Nothing is sent before the first operation.
    ///
    /// The default transport is `AsyncHTTPClientTransport` on Linux, where this initializer needs the package trait `AsyncHTTPClient`. On Apple
    /// platforms it is an ephemeral `URLSession`, which writes neither cookies nor caches to the disk.
    ///
    /// - Parameters:
    ///   - endpoints: The client URLs of etcd's members, such as `https://10.0.0.1:2379`, in the order in which the
    ///     store tries them. If many processes use the cluster, shuffle the array in each of them, so that they do not
    ///     all begin with the same member. With an empty array, every operation throws. A user and a password in a URL
    ///     are passed to the transport, and are not used as etcd's credentials.
    ///   - credentials: The user as which the store authenticates; `nil` if the cluster does not use authentication. With
    ///     credentials, all endpoints must be `https`, unless `allowsCleartext` of the credentials permits others.
    ///   - namespace: The prefix of all keys that the store uses in etcd. Stores with different namespaces do not see each other's entries, unless
    ///     one namespace is a prefix of the other.
    ///   - attemptTimeout: The time limit of one attempt to send a request to one endpoint. By default 2 seconds: twice
    ///     etcd's default election timeout, and short enough for several attempts within a lease of 15 seconds. Less
    ///     than 1 ms counts as 1 ms.
    ///   - silenceLimit: The time without a message from etcd after which the store reads the namespace to check
    ///     whether its watches have missed a change. By default 10 seconds. Less than 1 ms counts as 1 ms.
    ///   - name: The name shown in diagnostics.
    ///   - clock: The clock that measures `attemptTimeout`, `silenceLimit`, and the delays before the connection of the watches is opened again.
    public convenience init(
        endpoints: [URL],
        credentials: EtcdStore.Credentials? = nil,
        namespace: String = "taskcontrol/",
        attemptTimeout: Duration = .seconds(2),
        silenceLimit: Duration = .seconds(10),
        name: String? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        #if canImport(FoundationNetworking)
        let transport = AsyncHTTPClientTransport()
        #else
        let transport = URLSessionTransport(configuration: .ephemeral)
        #endif
        self.init(
            endpoints: endpoints,
            credentials: credentials,
            namespace: namespace,
            transport: transport,
            attemptTimeout: attemptTimeout,
            silenceLimit: silenceLimit,
            name: name,
            clock: clock
        )
    }
    #endif

    /// Grants a new lease. When the lease expires or is revoked, etcd removes the entries that are attached to it.
    ///
    /// etcd measures leases in whole seconds: a fraction is rounded up. etcd also has a minimum duration, 2 seconds with the default election
    /// timeout. The returned lease has the duration that etcd has granted.
    ///
    /// - Parameter timeToLive: The requested duration. Zero or less requests the minimum. A duration of more than 9,000,000,000 seconds, etcd's
    ///   maximum, requests that maximum.
    /// - Returns: The lease with the duration that etcd has granted.
    /// - Throws: `StoreError`; `CancellationError` if the caller is cancelled.
    package nonisolated(nonsending) func grantLease(timeToLive: Duration) async throws -> StoreLease {
        let seconds = min(max(timeToLive, .seconds(1)), .seconds(9_000_000_000 as Int64)).components
        let rounded = min(seconds.seconds + (seconds.attoseconds > 0 ? 1 : 0), 9_000_000_000)
        let request = EtcdGrantRequest(TTL: EtcdInteger(rounded))
        let response: EtcdGrantResponse = try await connection.send("lease/grant", request, .allowed)
        guard let id = response.ID?.value, let granted = response.TTL?.value, id != 0, granted > 0 else {
            throw StoreError(.ambiguous, "the answer has no lease")
        }
        return lease(id, granted, response.header)
    }

    /// Renews a lease: the lease expires one whole duration after the renewal.
    ///
    /// An etcd member that is not the leader forwards the renewal to the leader that it knows. etcd renews leases without asking a majority of the
    /// members: an answer alone does not prove that the lease was renewed. `CoordinationStore.renewLease(_:)` describes how to prove it.
    ///
    /// - Parameter id: The ID of the lease.
    /// - Returns: The lease with its duration. Its `StoreLease.term` is the Raft term that the answering member knew before the renewal.
    /// - Throws: `StoreError`, with the reason `StoreError.Reason.leaseNotFound` if there is no such lease; `CancellationError` if the caller is
    ///   cancelled.
    package nonisolated(nonsending) func renewLease(_ id: LeaseID) async throws -> StoreLease {
        let response: EtcdStreamMessage<EtcdKeepAliveResponse> = try await connection.send(
            "lease/keepalive",
            EtcdLeaseRequest(ID: EtcdInteger(id.rawValue)),
            .allowed
        )
        if let error = response.error { throw error.failure.storeError }
        guard let result = response.result else { throw StoreError(.ambiguous, "the answer has no result") }
        guard let granted = result.TTL?.value, granted > 0 else {
            throw StoreError(.leaseNotFound, "the lease has expired or was revoked")
        }
        return lease(id.rawValue, granted, result.header)
    }

    /// Revokes a lease, which removes the entries that are attached to it. Does nothing if there is no such lease.
    ///
    /// - Parameter id: The ID of the lease.
    /// - Throws: `StoreError`; `CancellationError` if the caller is cancelled.
    package nonisolated(nonsending) func revokeLease(_ id: LeaseID) async throws {
        do {
            let request = EtcdLeaseRequest(ID: EtcdInteger(id.rawValue))
            let _: EtcdRevokeResponse = try await connection.send("lease/revoke", request, .allowed)
        } catch let error as StoreError where error.reason == .leaseNotFound {}
    }

    /// Executes a transaction: checks conditions, and then changes and reads entries, in one atomic step.
    ///
    /// - Parameter transaction: The conditions, the operations to execute if all of them hold, and the operations to
    ///   execute otherwise. By default, etcd accepts at most 128 conditions, 128 operations in each of the two lists,
    ///   and 1.5 MiB in total.
    /// - Returns: The outcome: which operations were executed, and the entries that were read. If they were read in
    ///   `StoreRange.Order.creation` order, entries with the same creation revision, which one transaction has
    ///   created, are in no particular order.
    /// - Throws: `StoreError`, with the reason `StoreError.Reason.leaseNotFound` if the transaction attaches an
    ///   entry to a lease that does not exist (then nothing is changed), or `StoreError.Reason.ambiguous` if the
    ///   store does not know whether the transaction was executed; `CancellationError` if the caller is cancelled: then
    ///   too, the transaction may have been executed.
    package nonisolated(nonsending) func transact(
        _ transaction: StoreTransaction
    ) async throws -> StoreTransaction.Result {
        let request = try keys.request(transaction)
        let response: EtcdTransactionResponse = try await connection.send(
            "kv/txn",
            request,
            transaction.onlyReads ? .allowed : .refused
        )
        return try keys.result(response, of: transaction)
    }

    /// Reads the entries of a range, including the latest changes of all processes (a linearizable read).
    ///
    /// - Parameter range: The entries to read. A `StoreRange.limit` below 1 counts as 1.
    /// - Returns: The entries, and the revision at which they were read.
    /// - Throws: `StoreError`; `CancellationError` if the caller is cancelled.
    package nonisolated(nonsending) func read(_ range: StoreRange) async throws -> StoreSnapshot {
        let response: EtcdRangeResponse = try await connection.send("kv/range", keys.request(range), .allowed)
        guard let header = response.header, let revision = header.revision?.value else {
            throw StoreError(.ambiguous, "the answer has no revision")
        }
        return StoreSnapshot(entries: keys.entries(response), revision: revision, term: header.term)
    }

    /// Reports the changes of a range in the order of their revisions, until the caller is cancelled or `receive` throws.
    ///
    /// All watches share one connection, and a history: the latest changes that the connection has received, at most
    /// 1,024 changes and 4 MiB. A new watch first receives the changes after `revision` from this history. If the
    /// history begins later than `revision`, the store makes the connection again, from `revision`. If `receive` is so
    /// slow that the history no longer contains the next change, the next report is incomplete
    /// (`StoreChanges.isComplete`).
    ///
    /// - Parameters:
    ///   - range: The entries to watch. The order and the limit of the range are ignored.
    ///   - revision: The revision after which changes are reported.
    ///   - receive: Called with each group of changes, in the caller's isolation. The first call has no changes: it reports that etcd has created the
    ///     watch.
    /// - Throws: The error of `receive`; `CancellationError` if the caller is cancelled; `StoreError` if etcd refuses
    ///   the watch, or if the store has no endpoints. While no endpoint can be reached, the watch reports nothing and
    ///   throws nothing.
    package nonisolated(nonsending) func watch(
        _ range: StoreRange,
        after revision: Int64,
        receive: nonisolated(nonsending) (StoreChanges) async throws -> Void
    ) async throws {
        try await watches.watch(range, after: revision, receive: receive)
    }

    private func lease(_ id: Int64, _ seconds: Int64, _ header: EtcdHeader?) -> StoreLease {
        StoreLease(
            id: LeaseID(rawValue: id),
            timeToLive: .seconds(seconds),
            term: header?.term ?? 0
        )
    }
}
