import FlyingFox

/// The reaction of the server to a request, once the request is released.
enum Reply: Sendable, Equatable {
    /// The server answers.
    case answer
    /// The server refuses the request with the status 401.
    case unauthorized
    /// The server refuses the request with the status 503, and asks the client to wait for some seconds.
    case unavailable(retryAfter: Int)
    /// The server refuses the request of a client that has not waited, with the status 429, and asks it again to wait.
    case tooSoon(retryAfter: Int)
    /// The server answers, and closes the connection when half of the answer is written.
    case breakOff

    var status: HTTPStatusCode {
        switch self {
        case .answer, .breakOff: .ok
        case .unauthorized: .unauthorized
        case .unavailable: .serviceUnavailable
        case .tooSoon: .tooManyRequests
        }
    }

    var headers: HTTPHeaders {
        var headers = HTTPHeaders([.contentType: "application/json"])
        if let retryAfter { headers[HTTPHeader("Retry-After")] = "\(retryAfter)" }
        return headers
    }

    var retryAfter: Int? {
        switch self {
        case .unavailable(let seconds), .tooSoon(let seconds): seconds
        case .answer, .unauthorized, .breakOff: nil
        }
    }
}

/// A closure that decides about a request when it comes.
///
/// - Parameter earlier: The requests about the same subject that came before.
typealias Rule = @Sendable (_ visit: Visit, _ earlier: [Visit]) -> Reply
