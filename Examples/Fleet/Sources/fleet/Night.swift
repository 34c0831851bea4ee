import Foundation

/// A night of the fleet: the tenures of its workers, and the steps that they have written. Pure.
struct Night {
    /// The time for which a worker held the lease.
    struct Tenure: Hashable {
        let worker: String
        let token: Int64
        let start: Duration
        var steps: [Int] = []
        var end: Duration?
        var reason = "not ended"
    }

    /// The number of steps of the job.
    let steps: Int
    /// The runner is killed when this step is written; `nil`: it is not killed.
    let killStep: Int?
    /// The steps in the store, at the end.
    var ledger = Ledger()
    private(set) var tenures: [Tenure] = []
    private(set) var kill: Duration?
    private(set) var errors: [String] = []

    init(steps: Int, killStep: Int?) { (self.steps, self.killStep) = (steps, killStep) }

    /// Handles a report of a worker, and returns whether the worker must be killed.
    mutating func receive(_ event: Report.Event, _ token: Int64, from worker: String, at time: Duration) -> Bool {
        switch event {
        case .elected: tenures.append(Tenure(worker: worker, token: token, start: time))
        case .failed(let text): errors.append("\(worker): \(text)")
        case .wrote(let step):
            change(token) { $0.steps.append(step) }
            guard kill == nil, step == killStep else { return false }
            kill = time
            change(token) { ($0.end, $0.reason) = (time, "the process was killed (kill -9)") }
            return true
        case .resigned(let reason): change(token) { if $0.end == nil { ($0.end, $0.reason) = (time, reason) } }
        }
        return false
    }

    private mutating func change(_ token: Int64, _ change: (inout Tenure) -> Void) {
        if let index = tenures.lastIndex(where: { $0.token == token }) { change(&tenures[index]) }
    }

    /// Records that the process of a worker has ended.
    mutating func ended(_ worker: String, at time: Duration) {
        for index in tenures.indices where tenures[index].worker == worker && tenures[index].end == nil {
            (tenures[index].end, tenures[index].reason) = (time, "the process has ended without a report")
            errors.append("\(worker): \(tenures[index].reason)")
        }
    }

    /// The time from the kill to the next tenure; `nil`: there was none.
    var takeover: Duration? {
        kill.flatMap { kill in tenures.first { $0.start > kill }.map { $0.start - kill } }
    }

    /// Checks the claims of the example: each with its text, and whether it holds. Another worker must take over from the one that was killed within a
    /// limit.
    func claims(takeoverLimit limit: Duration) -> [(text: String, holds: Bool)] {
        let pairs = zip(tenures, tenures.dropFirst())
        let tokens = tenures.map { "\($0.token)" }.joined(separator: " < ")
        // A worker notes the end of its tenure before it gives the lease up.
        let overlap = pairs.contains { earlier, later in earlier.end.map { $0 > later.start } ?? true }
        var claims = [
            (
                "the job ran once: each of its \(steps) steps was written once (\(ledger.lines.count) were written)",
                ledger.steps.sorted() == Array(1...steps)
            ),
            ("each holder had a higher token: \(tokens)", pairs.allSatisfy { $0.token < $1.token }),
            ("no tenure began before the one before it had ended", !overlap),
            (
                errors.isEmpty ? "no worker has failed" : "a worker has failed: \(errors.joined(separator: "; "))",
                errors.isEmpty
            ),
        ]
        if killStep != nil {
            let text = "another worker took over within \(limit.text) of the kill"
            claims.append((takeover.map { "\(text) (\($0.text))" } ?? text, takeover.map { $0 <= limit } ?? false))
        }
        return claims
    }

    /// A line per tenure.
    var timeline: [String] {
        tenures.map { tenure in
            let steps = tenure.steps.isEmpty ? "no steps" : "steps \(tenure.steps[0]) to \(tenure.steps.last ?? 0)"
            let time = "\(tenure.start.text) to \(tenure.end?.text ?? "the end")"
            return "  worker \(tenure.worker), token \(tenure.token), \(time): \(steps), \(tenure.reason)"
        }
    }
}

extension Duration {
    /// The duration in seconds, such as "2.24 s".
    var text: String { String(format: "%.2f s", self / .seconds(1)) }
}
