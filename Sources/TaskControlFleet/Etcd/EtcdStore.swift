public import Foundation
import TaskControl
public import TaskControlHTTP

/// A store in an etcd cluster, for processes on several machines.
///
/// ```swift
/// let store = EtcdStore(endpoints: [a, b, c], credentials: EtcdCredentials(user: "jobs", password: password))
/// try await withLease("nightly", in: store) { lease in … }
/// ```
///
/// The store speaks the JSON gateway that each member of etcd 3.4 and later offers at its client URL, over an HTTP transport. Each entry is one
/// key of etcd, below the store's namespace.
///
/// ## Endpoints and failures
/// A request goes to the endpoint that answered last, and each attempt has a time limit, which is shorter if the caller has a deadline: a request that
/// may be repeated has an equal part of the remaining time for each endpoint that is left. If an attempt fails, the next endpoint is asked, once each:
/// - Reads, renewals, revocations and grants are repeated after every failure of the network. (A grant that is executed twice leaves a lease without
///   entries, which expires.)
/// - A transaction that writes is repeated only if it was certainly not executed: the connection was refused, or the member had no leader. In all other
///   cases the error has the reason ``StoreError/Reason/ambiguous``. Its body can be read once, so that the layers below do not repeat it either.
///
/// A caller whose deadline or cancellation ends an attempt before the answer leaves the next endpoint to later operations.
///
/// An answer of etcd such as "permission denied" is final.
///
/// ## Watches
/// All watches of a store share one connection, which watches the namespace, so that a process has one however many leases it holds. The
/// connection is made again, from the last revision, when it ends, and when it is silent although entries of the namespace have changed, which is
/// checked every `silenceLimit`: writes of other users of the cluster do not end it. The task of the connection has no context of a caller: neither
/// task-locals nor a deadline.
///
/// ## Authentication
/// With credentials, the store obtains a token, once for all concurrent operations, and a new one when the server refuses it (by default, a
/// token of etcd expires 5 minutes after its last use). The user needs the permission to read and write the keys that begin with the namespace:
/// `etcdctl role grant-permission jobs --prefix readwrite taskcontrol/`.
///
/// ## On Linux
/// The store needs the package trait `AsyncHTTPClient` on Linux, or a transport of your own. `URLSession` on Linux ends the process when a response has
/// trailers after a body in chunks (Swift 6.3), and the gateway of etcd 3.4 and 3.5 sends such a response for every error, for example for a lease that has
/// expired: the initializers trap if they are passed a `URLSessionTransport` there. Without the trait, there is no default for the transport.
///
/// ## TLS
/// TLS is the transport's: give endpoints of the scheme `https`. Certificates of your own authority, and certificates of clients, are in the
/// configuration of `URLSession` or AsyncHTTPClient. etcd does not accept the name in a client's certificate as its user through the gateway: use
/// credentials.
///
/// ## Diagnostics
/// Events, errors and traces contain hosts and messages of etcd, and neither credentials nor keys nor values.
public final class EtcdStore: CoordinationStore {
    private let keys: EtcdKeys
    private let connection: EtcdConnection
    private let watches: EtcdWatches

    /// Creates a store that uses a transport. Nothing is sent before the first operation.
    ///
    /// - Parameters:
    ///   - endpoints: The client URLs of the members, such as `http://10.0.0.1:2379`, in the order in which they are tried first. Without any, every
    ///     operation throws. Shuffle them to distribute many clients. A user and a password in a URL are the transport's.
    ///   - credentials: A user of etcd; `nil`: the cluster does not authenticate.
    ///   - namespace: The beginning of all keys in etcd. Stores with different namespaces do not see each other's entries.
    ///   - transport: The transport. A time limit of the transport on silent responses ends the watch's connection, which is then made again. On
    ///     Linux, it must not be a `URLSessionTransport`: the initializer traps.
    ///   - attemptTimeout: The time limit of one attempt at one endpoint. By default 2 seconds: twice the election timeout of etcd's defaults, and
    ///     short enough for several attempts within a lease of 15 seconds.
    ///   - silenceLimit: The time without a message after which a watch is verified by reads. By default 10 seconds.
    ///   - name: The name shown in diagnostics.
    ///   - clock: The clock that measures these times.
    public init(
        endpoints: [URL],
        credentials: EtcdCredentials? = nil,
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
        // A connection is established and answered, as a request is.
        watches = EtcdWatches(
            connection,
            keys,
            openTimeout: max(.milliseconds(1), attemptTimeout).saturated,
            silenceLimit: max(.milliseconds(1), silenceLimit).saturated,
            clock: clock
        )
    }

    #if AsyncHTTPClient || !canImport(FoundationNetworking)
    /// Creates a store over the usual transport. Nothing is sent before the first operation.
    ///
    /// The transport is `AsyncHTTPClientTransport` on Linux, where this initializer needs the package trait `AsyncHTTPClient`, and elsewhere a `URLSession`
    /// without cookies and caches.
    ///
    /// - Parameters:
    ///   - endpoints: The client URLs of the members, such as `http://10.0.0.1:2379`, in the order in which they are tried first. Without any, every
    ///     operation throws. Shuffle them to distribute many clients. A user and a password in a URL are the transport's.
    ///   - credentials: A user of etcd; `nil`: the cluster does not authenticate.
    ///   - namespace: The beginning of all keys in etcd. Stores with different namespaces do not see each other's entries.
    ///   - attemptTimeout: The time limit of one attempt at one endpoint. By default 2 seconds: twice the election timeout of etcd's defaults, and
    ///     short enough for several attempts within a lease of 15 seconds.
    ///   - silenceLimit: The time without a message after which a watch is verified by reads. By default 10 seconds.
    ///   - name: The name shown in diagnostics.
    ///   - clock: The clock that measures these times.
    public convenience init(
        endpoints: [URL],
        credentials: EtcdCredentials? = nil,
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

    /// Grants a new lease.
    ///
    /// etcd counts whole seconds, and has a minimum, which is 2 seconds if the members have the default election timeout: the duration is
    /// rounded up, and the granted one is returned.
    ///
    /// - Parameter timeToLive: The requested duration. Zero or less asks for the minimum; more than 9,000,000,000 seconds, the maximum of etcd, for that.
    /// - Returns: The lease with the duration that etcd has granted.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    public nonisolated(nonsending) func grantLease(timeToLive: Duration) async throws -> StoreLease {
        let seconds = min(max(timeToLive, .seconds(1)), .seconds(9_000_000_000 as Int64)).components
        let rounded = min(seconds.seconds + (seconds.attoseconds > 0 ? 1 : 0), 9_000_000_000)
        let request = EtcdGrantRequest(TTL: EtcdInteger(rounded))
        let response: EtcdGrantResponse = try await connection.send("lease/grant", request, .allowed)
        guard let id = response.ID?.value, let granted = response.TTL?.value, id != 0, granted > 0 else {
            throw StoreError(.ambiguous, "the answer has no lease")
        }
        return lease(id, granted, response.header)
    }

    /// Renews a lease: its whole duration begins again.
    ///
    /// A member that is not the leader passes the renewal on to the leader that it knows. etcd renews leases without a majority: see
    /// ``CoordinationStore/renewLease(_:)`` for what proves a renewal.
    ///
    /// - Parameter id: The lease.
    /// - Returns: The lease with its duration. Its term is the one that the answering member knew before the renewal.
    /// - Throws: ``StoreError``, with the reason ``StoreError/Reason/leaseNotFound`` if there is no such lease; `CancellationError` if the caller is
    ///   cancelled.
    public nonisolated(nonsending) func renewLease(_ id: LeaseID) async throws -> StoreLease {
        let response: EtcdStreamMessage<EtcdKeepAliveResponse> = try await connection.send(
            "lease/keepalive",
            EtcdLeaseRequest(ID: EtcdInteger(id.rawValue)),
            .allowed
        )
        if let error = response.error {
            throw EtcdFailure(code: error.grpc_code ?? 2, message: error.message ?? "").storeError
        }
        guard let result = response.result else { throw StoreError(.ambiguous, "the answer has no result") }
        guard let granted = result.TTL?.value, granted > 0 else {
            throw StoreError(.leaseNotFound, "the lease has expired or was revoked")
        }
        return lease(id.rawValue, granted, result.header)
    }

    /// Ends a lease and removes its entries. Does nothing if there is no such lease.
    ///
    /// - Parameter id: The lease.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    public nonisolated(nonsending) func revokeLease(_ id: LeaseID) async throws {
        do {
            let request = EtcdLeaseRequest(ID: EtcdInteger(id.rawValue))
            let _: EtcdRevokeResponse = try await connection.send("lease/revoke", request, .allowed)
        } catch let error as StoreError where error.reason == .leaseNotFound {}
    }

    /// Compares, and then changes and reads, in one atomic step.
    ///
    /// - Parameter transaction: The comparisons and the operations. etcd accepts at most 128 of each, and 1.5 MiB, by default.
    /// - Returns: Which operations were executed, and what they have read. Entries that were created by one transaction have no order among each other in
    ///   ``StoreRange/Order/creation``.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    public nonisolated(nonsending) func transact(
        _ transaction: StoreTransaction
    ) async throws -> StoreTransaction.Result {
        let request = try keys.request(transaction)
        let response: EtcdTransactionResponse = try await connection.send(
            "kv/txn",
            request,
            transaction.isReading ? .allowed : .refused
        )
        return try keys.result(response, of: transaction)
    }

    /// Reads the entries of a range, linearizably: the newest that any process has written.
    ///
    /// - Parameter range: The entries to read.
    /// - Returns: The entries, and the revision at which they were read.
    /// - Throws: ``StoreError``; `CancellationError` if the caller is cancelled.
    public nonisolated(nonsending) func read(_ range: StoreRange) async throws -> StoreSnapshot {
        let response: EtcdRangeResponse = try await connection.send("kv/range", keys.request(range), .allowed)
        guard let header = response.header, let revision = header.revision?.value else {
            throw StoreError(.ambiguous, "the answer has no revision")
        }
        return StoreSnapshot(entries: keys.entries(response), revision: revision, term: header.term)
    }

    /// Reports the changes of a range in the order of their revisions, until the caller is cancelled or `receive` throws.
    ///
    /// A watcher of changes that the store's connection has received before gets them from a history of 1,024 changes and 4 MiB. If its revision is
    /// older, the connection is made again from there. A watcher that is slower than this history receives a report that is not complete.
    ///
    /// - Parameters:
    ///   - range: The entries to watch.
    ///   - revision: The revision after which changes are reported.
    ///   - receive: Called with each group of changes, in the caller's isolation. The first call has no changes: the server watches.
    /// - Throws: The error of `receive`; `CancellationError`; ``StoreError`` if the server refuses the watch. While no endpoint can be reached, the
    ///   watch is silent.
    public nonisolated(nonsending) func watch(
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
