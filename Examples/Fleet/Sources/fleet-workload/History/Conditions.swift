/// The circumstances of a run, as far as its verdict depends on them.
struct Conditions: Hashable, Sendable {
    /// The workers that have ended by themselves.
    var crashed: [Int] = []
    /// The number of the faults of each kind.
    var faults: [Fault.Kind: Int] = [:]
    /// The kinds of faults that must have happened.
    var expectedFaults: [Fault.Kind] = []
    /// The number of connections between members that the proxy could not attribute, and so not hold back.
    var unknownConnections = 0
    /// The number of lines of workers that are no records.
    var brokenLines = 0
    /// The workers whose output was not received to its end.
    var unreadOutputs: [Int] = []

    /// The shortest run, in seconds, in which each kind of fault is expected.
    static let secondsForAllFaults = 30

    var violations: [String] {
        var violations: [String] = []
        if !crashed.isEmpty { violations.append("workers that have ended by themselves: \(crashed)") }
        let missing = expectedFaults.filter { faults[$0, default: 0] == 0 }
        if !missing.isEmpty {
            violations.append("faults that have not happened: \(missing.map(\.rawValue).joined(separator: ", "))")
        }
        if unknownConnections > 0 {
            violations.append("\(unknownConnections) connections of unknown members: partitions did not hold them back")
        }
        if brokenLines > 0 { violations.append("\(brokenLines) lines of workers are no records") }
        if !unreadOutputs.isEmpty { violations.append("the output of workers was not received: \(unreadOutputs)") }
        return violations
    }

    /// The faults with their numbers, as text.
    var faultText: String {
        let counts = Fault.Kind.allCases.compactMap { kind in faults[kind].map { "\($0) × \(kind.rawValue)" } }
        return counts.isEmpty ? "none" : counts.joined(separator: ", ")
    }
}
