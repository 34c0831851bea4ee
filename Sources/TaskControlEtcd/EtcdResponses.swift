import Foundation

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
