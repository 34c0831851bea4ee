/// A statement about a night that was checked.
struct Claim: Hashable {
    let text: String
    let holds: Bool
}

extension Night {
    /// Checks the claims of the example.
    ///
    /// - Parameter limit: The time in which another worker must take over from the one that was killed.
    func claims(takeoverLimit limit: Duration) -> [Claim] {
        var claims = [
            Claim(
                text:
                    "the job ran once: each of its \(steps) steps was written once (\(ledger.lines.count) were written)",
                holds: ledger.lines.map(\.step).sorted() == Array(1...steps)
            ),
            Claim(
                text: "each holder had a higher token: \(tenures.map { "\($0.token)" }.joined(separator: " < "))",
                holds: zip(tenures, tenures.dropFirst()).allSatisfy { $0.token < $1.token }
            ),
            Claim(text: "no tenure began before the one before it had ended", holds: !tenuresOverlap),
            Claim(
                text: errors.isEmpty
                    ? "no worker has failed" : "a worker has failed: \(errors.joined(separator: "; "))",
                holds: errors.isEmpty && tenures.allSatisfy { $0.end?.reason != .vanished }
            ),
        ]
        if killStep != nil {
            let text = "another worker took over within \(limit.text) of the kill"
            claims.append(
                Claim(
                    text: takeover.map { "\(text) (\($0.text))" } ?? text,
                    holds: takeover.map { $0 <= limit } ?? false
                )
            )
        }
        return claims
    }

    /// A worker notes the end of its tenure before it gives the lease up.
    private var tenuresOverlap: Bool {
        zip(tenures, tenures.dropFirst()).contains { earlier, later in
            earlier.end.map { $0.time > later.start } ?? true
        }
    }
}
