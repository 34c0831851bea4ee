import FlyingFox

/// The reaction of the server to a request, once the request is released.
enum Reply: Sendable, Equatable {
    /// It answers.
    case answer
    /// It refuses: 401.
    case unauthorized
    /// It refuses for now: 503, and asks to be left alone for some seconds.
    case unavailable(retryAfter: Int)
    /// It refuses who did not: 429, and asks again.
    case tooSoon(retryAfter: Int)
    /// It answers, and closes the connection when half of that is written.
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

/// Decides about a request when it comes.
///
/// - Parameter earlier: The requests about the same subject that came before.
typealias Rule = @Sendable (_ visit: Visit, _ earlier: [Visit]) -> Reply
