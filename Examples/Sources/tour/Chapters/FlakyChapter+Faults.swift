import TaskControlTesting

/// The fault of each request about each item: the same for all acts of a seed, whatever their timing.
struct Faults: Sendable {
    /// The number of faults in a row after which a request succeeds, so that no item is lost by chance alone.
    static let mostInARow = 2
    static let retryAfter = 1

    private static let unavailable = 0..<30
    private static let breakOff = 30..<40

    let seed: UInt64

    /// Returns the reply of the server's rule: an answer, a fault, or a refusal for a client that comes back before the time that the last refusal
    /// named.
    func reply(to visit: Visit, after earlier: [Visit]) -> Reply {
        if let last = earlier.last, let wait = last.reply.retryAfter, visit.time - last.time < .seconds(wait) {
            return .tooSoon(retryAfter: wait)
        }
        let inTime = earlier.count { $0.reply != .tooSoon(retryAfter: Self.retryAfter) }
        return reply(to: visit.subject, attempt: inTime + 1)
    }

    /// Returns the reply to an attempt, counted from 1, without attempts that came too soon.
    func reply(to subject: String, attempt: Int) -> Reply {
        guard attempt <= Self.mostInARow else { return .answer }
        // Each item has dice of its own: in which order the items come plays no part.
        let item = subject.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        var dice = SeededGenerator(seed: item)
        let roll = (1...attempt).map { _ in Int.random(in: 0..<100, using: &dice) }.last!
        if Self.unavailable.contains(roll) { return .unavailable(retryAfter: Self.retryAfter) }
        return Self.breakOff.contains(roll) ? .breakOff : .answer
    }

    /// Returns the number of requests for an item that fail before the first that is answered, if none comes too soon.
    func count(for subject: String) -> Int {
        (1...).first { reply(to: subject, attempt: $0) == .answer }! - 1
    }
}
