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

    /// Adds a visit.
    ///
    /// - Returns: The index of the visit.
    mutating func arrive(subject: String, token: Int?, rule: Rule) -> Int {
        var visit = Visit(subject: subject, edition: edition, token: token, time: .now)
        visit.mayBeAnswered = isOpen && subject != keptBack
        visit.reply = rule(visit, all.filter { $0.subject == subject })
        all.append(visit)
        mostInFlight = max(mostInFlight, inFlight)
        return all.count - 1
    }

    func received(_ subject: String) -> Int {
        all.count { $0.subject == subject }
    }

    func inFlight(_ subject: String) -> Int {
        all.count { $0.subject == subject && $0.isInFlight }
    }

    func hasReceived(_ subject: String) -> Bool {
        all.contains { $0.subject == subject }
    }

    /// Returns whether a request about a subject has come, and no such request is in flight.
    func hasEnded(_ subject: String) -> Bool {
        hasReceived(subject) && inFlight(subject) == 0
    }

    var description: String {
        let rest = [(refused, "refused"), (brokenOff, "broken off")].map { $0 > 0 ? ", \($0) \($1)" : "" }.joined()
        return "\(received) received, \(completed - refused) answered, \(gone) left by the client\(rest)"
    }
}
