import FlyingFox

/// What the server does with a request, once it is let go.
enum Reply: Sendable, Equatable {
    /// It answers.
    case answer
    /// It refuses: 401.
    case unauthorized
    /// It refuses for now: 503, and asks to be left alone for some seconds.
    case unavailable(retryAfter: Int)
    /// It answers, and closes the connection when half of that is written.
    case breakOff

    var status: HTTPStatusCode {
        switch self {
        case .answer, .breakOff: .ok
        case .unauthorized: .unauthorized
        case .unavailable: .serviceUnavailable
        }
    }

    var headers: HTTPHeaders {
        var headers = HTTPHeaders([.contentType: "application/json"])
        if case .unavailable(let seconds) = self { headers[HTTPHeader("Retry-After")] = "\(seconds)" }
        return headers
    }
}

/// Decides about a request when it comes.
///
/// - Parameter earlier: The requests about the same subject that came before.
typealias Rule = @Sendable (_ visit: Visit, _ earlier: [Visit]) -> Reply
