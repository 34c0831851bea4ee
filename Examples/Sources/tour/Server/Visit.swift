/// One request, as the server sees it.
struct Visit: Sendable {
    /// How far it has come. A visit ends as `completed` or as `gone`, never as both.
    enum Phase: Sendable {
        /// The server has the request and keeps its answer back.
        case held
        /// The answer is on its way into the connection.
        case answering
        /// The connection has taken the whole answer.
        case completed
        /// The client closed the connection before it had the answer.
        case gone
    }

    let subject: String
    /// What the server had to tell when the request came; see ``Stage/publish()``.
    let edition: Int
    var phase = Phase.held
    var mayBeAnswered = false

    var isInFlight: Bool { phase == .held || phase == .answering }
}

/// All requests of an act, and what is known of them.
struct Visits: Sendable, CustomStringConvertible {
    var all: [Visit] = []
    /// Whether requests are answered as soon as they come.
    var isOpen = false
    var edition = 1
    private(set) var mostInFlight = 0

    var received: Int { all.count }
    var completed: Int { all.count { $0.phase == .completed } }
    var gone: Int { all.count { $0.phase == .gone } }
    var inFlight: Int { all.count(where: \.isInFlight) }

    /// - Returns: The index of the new visit.
    mutating func arrive(subject: String) -> Int {
        all.append(Visit(subject: subject, edition: edition, mayBeAnswered: isOpen))
        mostInFlight = max(mostInFlight, inFlight)
        return all.count - 1
    }

    func hasReceived(_ subject: String) -> Bool {
        all.contains { $0.subject == subject }
    }

    /// Whether a request for this has come and has ended, in one way or the other.
    func hasEnded(_ subject: String) -> Bool {
        hasReceived(subject) && !all.contains { $0.subject == subject && $0.isInFlight }
    }

    var description: String { "\(received) received, \(completed) answered, \(gone) left by the client" }
}
