/// The load of the service, second by second, and the results of the calls.
struct Timeline: Equatable, Sendable {
    struct Second: Equatable, Sendable {
        var requests = 0
        /// The number of answered requests among those that came in this second.
        var answered = 0
    }

    private(set) var seconds: [Second]
    /// The number of calls that began. A call is one thing that a client wants, in one request or several.
    private(set) var calls = 0
    /// The number of calls that had their answer by the end.
    private(set) var succeeded = 0

    init(until end: Duration) { seconds = Array(repeating: Second(), count: Int(end / .seconds(1))) }

    mutating func callBegan() { calls += 1 }
    mutating func callSucceeded() { succeeded += 1 }

    mutating func requestCame(at time: Duration, isAnswered: Bool) {
        let second = Int(time / .seconds(1))
        // At the end all clients are cancelled, and some ask once more.
        guard seconds.indices.contains(second) else { return }
        seconds[second].requests += 1
        if isAnswered { seconds[second].answered += 1 }
    }

    // MARK: What follows

    var requests: Int { seconds.reduce(0) { $0 + $1.requests } }
    /// Returns the number of requests that came in a range of time.
    func requests(in range: Range<Duration>) -> Int {
        seconds[Int(range.lowerBound / .seconds(1))..<Int(range.upperBound / .seconds(1))].reduce(0) {
            $0 + $1.requests
        }
    }
    /// The most requests in one second.
    var peak: Int { seconds.map(\.requests).max() ?? 0 }
    var successRate: Double { calls == 0 ? 0 : Double(succeeded) / Double(calls) }

    /// The share of answered calls that counts as recovered: from then on, no ten seconds have less.
    static let recovered = 0.9
    static let window = 10

    /// Returns the number of seconds after the outage at which the service has recovered permanently; `nil` if it has not.
    func recovery(after outage: Range<Duration>) -> Int? {
        let first = Int(outage.upperBound / .seconds(1))
        var recovery: Int?
        for start in stride(from: seconds.count - Self.window, through: first, by: -1) {
            let window = seconds[start..<start + Self.window]
            let (requests, answered) = (window.reduce(0) { $0 + $1.requests }, window.reduce(0) { $0 + $1.answered })
            guard Double(answered) >= Self.recovered * Double(requests) else { return recovery }
            recovery = start - first
        }
        return recovery
    }

    /// Returns the averages of groups of seconds.
    func averaged(into groups: Int) -> [(requests: Double, answered: Double)] {
        (0..<groups).map { group in
            let first = group * seconds.count / groups
            let some = seconds[first..<max(first + 1, (group + 1) * seconds.count / groups)]
            let count = Double(some.count)
            return (
                some.reduce(0) { $0 + Double($1.requests) } / count,
                some.reduce(0) { $0 + Double($1.answered) } / count
            )
        }
    }
}
