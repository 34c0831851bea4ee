import Foundation
public import TaskControl
internal import TaskControlFleet
import TaskControlHTTP

/// The failure of one attempt to send a request to one endpoint of etcd.
struct EtcdFailure: Error, Hashable, Sendable {
    /// The kind of a failure, which decides whether the request is sent again and which error is thrown.
    enum Kind: Hashable, Sendable {
        /// The request was certainly not executed, and another endpoint may be able to execute it.
        case notExecuted
        /// The request may have been executed.
        case unknown
        /// The server refused the token, and did not execute the request. It may accept a new token.
        case tokenRefused
        /// The server does not authenticate its clients.
        case authenticationNotEnabled
        /// No such lease exists.
        case leaseNotFound
        /// The user does not exist, has another password, or lacks a permission.
        case unauthorized
        /// The server refused the request, as other members of the cluster would.
        case refused
        /// A message of a stream is longer than the limit. A new stream from the same revision would receive the same message.
        case tooLong
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The error that the operation of the store throws for this failure.
    var storeError: StoreError {
        switch kind {
        case .notExecuted: StoreError(.unavailable, message)
        case .unknown, .tooLong: StoreError(.ambiguous, message)
        case .tokenRefused, .unauthorized: StoreError(.unauthorized, message)
        case .leaseNotFound: StoreError(.leaseNotFound, message)
        case .authenticationNotEnabled, .refused: StoreError(.refused, message)
        }
    }
}

// MARK: Errors of the server

extension EtcdFailure {
    private static let notTheGateway = "this is not the JSON gateway of etcd 3.4 or later"

    /// Creates the failure that an HTTP response with an error status describes.
    init(status: Int, body: Data) {
        if let response = try? JSONDecoder().decode(EtcdErrorResponse.self, from: body), let code = response.code {
            self.init(code: code, message: response.message ?? "")
            return
        }
        // The response is not etcd's: a proxy or another server has sent it.
        switch status {
        case 401, 403, 407: self.init(.unauthorized, "status \(status)")
        // 421: the request reached a server that is not responsible for the host.
        case 421, 429: self.init(.notExecuted, "status \(status)")
        // A proxy whose server has not answered in time sends 408 as well.
        case 408: self.init(.unknown, "status \(status)")
        // The endpoint has no such path: the server is not etcd, or has another version.
        case 404: self.init(.notExecuted, "status \(status): \(Self.notTheGateway)")
        case 300..<500: self.init(.refused, "status \(status): \(Self.notTheGateway)")
        default: self.init(.unknown, "status \(status)")
        }
    }

    /// Creates the failure for an error that etcd has returned.
    ///
    /// - Parameters:
    ///   - code: The status code of gRPC.
    ///   - message: The error message of the server.
    init(code: Int, message: String) {
        let shown = Self.shown(message)
        let text = shown ?? "code \(code)"
        if let shown, let kind = Self.kind(ofMessage: shown) {
            self.init(kind, text)
            return
        }
        switch code {
        // INVALID_ARGUMENT, ALREADY_EXISTS, FAILED_PRECONDITION, OUT_OF_RANGE, UNIMPLEMENTED
        case 3, 6, 9, 11, 12: self.init(.refused, text)
        // NOT_FOUND
        case 5: self.init(.refused, text)
        // PERMISSION_DENIED
        case 7: self.init(.unauthorized, text)
        // DATA_LOSS: the member has stopped serving requests.
        case 15: self.init(.refused, text)
        // UNAUTHENTICATED
        case 16: self.init(.tokenRefused, text)
        // CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, ABORTED, INTERNAL, UNAVAILABLE: all of them can also occur after etcd has begun to execute the
        // request. So can RESOURCE_EXHAUSTED: etcd executes the write that exceeds its space limit, and gRPC reports an answer that is too large.
        default: self.init(.unknown, text)
        }
    }

    /// Creates the failure for the reason with which etcd has cancelled a watch.
    init(cancelReason reason: String) {
        // "rpc error: code = PermissionDenied desc = etcdserver: permission denied"
        let code =
            if reason.contains("code = Unauthenticated") {
                16
            } else if reason.contains("code = PermissionDenied") {
                7
            } else if reason.contains("code = InvalidArgument") {
                3
            } else {
                2
            }
        self.init(code: code, message: reason)
    }

    /// Returns the kind of an error whose message is more specific than its gRPC status code; `nil` for other messages.
    ///
    /// Sources: etcd 3.4 and 3.5, `etcdserver/api/v3rpc/rpctypes/error.go`, `etcdserver/errors.go`, `raft/raft.go`, `auth/store.go`.
    private static func kind(ofMessage message: String) -> Kind? {
        switch message {
        case "etcdserver: requested lease not found": .leaseNotFound
        case "etcdserver: authentication is not enabled": .authenticationNotEnabled
        // The first of these messages: a request without a token, to a server that has just begun to require one.
        case "etcdserver: user name is empty", "etcdserver: invalid auth token",
            "etcdserver: revision of auth store is old",
            "auth: revision in header is old":
            .tokenRefused
        case "etcdserver: authentication failed, invalid user ID or password", "etcdserver: user name not found",
            "etcdserver: permission denied":
            .unauthorized
        // The server checks these conditions before it begins to execute the request.
        case "etcdserver: no leader", "etcdserver: too many requests", "etcdserver: not capable",
            "etcdserver: rpc not supported for learner", "raft proposal dropped":
            .notExecuted
        default: nil
        }
    }

    /// Returns the part of an error message that etcd itself has written; `nil` if there is none. etcd's own messages are constants. Messages of
    /// other components can contain keys, values or credentials of the request, and are not shown.
    private static func shown(_ message: String) -> String? {
        for beginning in ["etcdserver: ", "auth: ", "mvcc: ", "raft proposal "] {
            if let range = message.range(of: beginning) { return String(message[range.lowerBound...].prefix(120)) }
        }
        return nil
    }
}

// MARK: Errors of the network

extension EtcdFailure {
    /// Creates the failure for an error that the HTTP transport has thrown.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - hasSent: Whether the transport has sent a part of the request's body.
    init(transport error: any Error, hasSent: Bool) {
        // An error of a transport can contain the URL and the headers of the request.
        let text = (error as? URLError).map { "URLError \($0.errorCode)" } ?? "\(type(of: error))"
        self.init(!hasSent && isRefusedConnection(error) ? .notExecuted : .unknown, "network: \(text)")
    }
}

extension TaskEvent.Primitive {
    /// The primitive in events of an ``EtcdStore``.
    public static var etcdStore: Self { Self("EtcdStore", []) }
}

extension TaskEvent.Kind {
    /// An endpoint of an ``EtcdStore`` did not answer, or could not execute a request.
    public static var endpointFailed: Self { Self("endpointFailed") }
    /// An ``EtcdStore`` has obtained an authentication token for its credentials.
    public static var authenticated: Self { Self("authenticated") }
    /// The connection that the watches of an ``EtcdStore`` share has ended. The store opens a new connection.
    public static var watchInterrupted: Self { Self("watchInterrupted") }
}
