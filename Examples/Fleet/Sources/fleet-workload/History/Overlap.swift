/// Two leases of one name that were valid at the same time.
struct Overlap: Hashable, Sendable, CustomStringConvertible {
    let workload: Record.Workload
    let first: Tenure
    let second: Tenure
    let milliseconds: UInt64

    var description: String {
        "\(workload.rawValue): worker \(first.worker) with token \(first.token) and worker \(second.worker) with token \(second.token), "
            + "for \(milliseconds) ms"
    }

    /// Returns the overlaps of the tenures of one name.
    static func all(in tenures: [Tenure], of workload: Record.Workload) -> [Overlap] {
        var (found, active) = ([Overlap](), [(tenure: Tenure, end: UInt64)]())
        let valid = tenures.compactMap { tenure in tenure.valid.map { (tenure, $0) } }
            .sorted { $0.1.lowerBound < $1.1.lowerBound }
        for (tenure, valid) in valid {
            active.removeAll { $0.end < valid.lowerBound }
            for other in active {
                let milliseconds = (min(other.end, valid.upperBound) - valid.lowerBound) / 1_000_000
                found.append(
                    Overlap(workload: workload, first: other.tenure, second: tenure, milliseconds: milliseconds)
                )
            }
            active.append((tenure, valid.upperBound))
        }
        return found
    }
}
