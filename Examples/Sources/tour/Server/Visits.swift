import FlyingFox

/// The reaction of the server to a request, once the request is released.
enum Reply: Sendable, Equatable {
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

    var retryAfter: Int? {
        switch self {
        case .unavailable(let seconds), .tooSoon(let seconds): seconds
        case .answer, .unauthorized, .breakOff: nil
        }
    }
}

/// A closure that decides about a request when it comes, and knows the requests about the same subject that came before.
typealias Rule = @Sendable (_ visit: Visit, _ earlier: [Visit]) -> Reply

/// One request, as the server sees it.
struct Visit: Sendable {
    /// The phase of a request. The last three phases are final.
    enum Phase: Sendable {
        /// The server has the request and keeps its answer back.
        case held
        /// The answer is on its way into the connection.
        case answering
        /// The connection has taken the whole answer, be it a refusal.
        case completed
        /// The client closed the connection before it had the answer.
        case gone
        /// The server closed the connection in the middle of the answer.
        case brokenOff
    }

    let subject: String
    /// The edition of the server when the request came; see ``Stage/publish()``.
    let edition: Int
    /// The token that the client has sent.
    let token: Int?
    let time: ContinuousClock.Instant
    var phase = Phase.held
    var mayBeAnswered = false
    var reply = Reply.answer

    var isInFlight: Bool { phase == .held || phase == .answering }
    var isRefused: Bool { reply != .answer && reply != .breakOff }
}

/// The requests of one act.
struct Visits: Sendable, CustomStringConvertible {
    var all: [Visit] = []
    /// Whether requests are answered as soon as they come.
    var isOpen = false
    /// The subject whose requests are not answered even if ``isOpen`` is true.
    var keptBack: String?
    var edition = 1
    private(set) var mostInFlight = 0

    var received: Int { all.count }
    var completed: Int { all.count { $0.phase == .completed } }
    var refused: Int { all.count { $0.phase == .completed && $0.isRefused } }
    var gone: Int { all.count { $0.phase == .gone } }
    var brokenOff: Int { all.count { $0.phase == .brokenOff } }
    var inFlight: Int { all.count(where: \.isInFlight) }

    /// Adds a visit, and returns its index.
    mutating func arrive(subject: String, token: Int?, rule: Rule) -> Int {
        var visit = Visit(subject: subject, edition: edition, token: token, time: .now)
        visit.mayBeAnswered = isOpen && subject != keptBack
        visit.reply = rule(visit, all.filter { $0.subject == subject })
        all.append(visit)
        mostInFlight = max(mostInFlight, inFlight)
        return all.count - 1
    }

    func received(_ subject: String) -> Int { all.count { $0.subject == subject } }
    func inFlight(_ subject: String) -> Int { all.count { $0.subject == subject && $0.isInFlight } }
    func hasReceived(_ subject: String) -> Bool { received(subject) > 0 }
    /// Returns whether a request about a subject has come, and no such request is in flight.
    func hasEnded(_ subject: String) -> Bool { hasReceived(subject) && inFlight(subject) == 0 }

    var description: String {
        "\(received) received, \(completed) completed, \(gone) left by the client, \(brokenOff) broken off"
    }
}
