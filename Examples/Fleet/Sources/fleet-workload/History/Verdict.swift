/// The check of a history: overlapping leases, tokens, and lost updates.
struct Verdict: Hashable, Sendable {
    /// A set that workers have added elements to.
    struct Elements: Hashable, Sendable {
        /// The number of elements whose addition was acknowledged.
        var added = 0
        /// The number of additions that the store has refused.
        var refused = 0
        /// Acknowledged elements that are not in the set at the end.
        var lost: [String] = []
        /// Elements of the set that no worker has attempted to add.
        var unexpected: [String] = []
    }

    /// The number of leases, by workload.
    var leases: [Record.Workload: Int] = [:]
    /// The number of leases that were lost.
    var lost = 0
    /// The pairs of leases of one name that both processes have taken for valid at the same time.
    var overlaps: [String] = []
    /// The tokens that two leases of one name have had.
    var repeatedTokens: [Int64] = []
    var file = Elements()
    var store = Elements()
    /// The workers that have ended by themselves.
    var crashed: [Int] = []

    /// - Parameters:
    ///   - crashed: The workers that have ended by themselves.
    ///   - records: The records of all workers.
    ///   - file: The set in the file at the end.
    ///   - store: The set in the store at the end.
    init(_ records: [Record], crashed: [Int], file: [String], store: [String]) {
        self.crashed = crashed
        for workload in Record.Workload.allCases {
            let records = records.filter { $0.workload == workload }
            let tenures = Self.tenures(records)
            leases[workload] = tenures.count
            lost += records.filter { $0.kind == .lost }.count
            overlaps += Self.overlaps(tenures).map { "\(workload.rawValue): \($0)" }
            repeatedTokens += Self.repeated(tenures.map(\.token))
        }
        self.file = Self.elements(records.filter { $0.workload == .file }, file)
        self.store = Self.elements(records.filter { $0.workload == .store }, store)
    }

    /// The time in which a process has taken its lease for valid.
    private struct Tenure {
        let worker: Int
        let token: Int64
        let start: UInt64
        var end: UInt64
    }

    private static func tenures(_ records: [Record]) -> [Tenure] {
        var tenures: [Tenure] = []
        var indices: [[Int64]: Int] = [:]
        for record in records {
            guard let token = record.token else { continue }
            let key = [Int64(record.worker), token]
            switch record.kind {
            case .entered:
                indices[key] = tenures.count
                tenures.append(Tenure(worker: record.worker, token: token, start: record.time, end: record.time))
            case .valid:
                guard let index = indices[key] else { continue }
                tenures[index].end = max(tenures[index].end, record.time)
            default: break
            }
        }
        return tenures
    }

    private static func overlaps(_ tenures: [Tenure]) -> [String] {
        var found: [String] = []
        var active: [Tenure] = []
        for tenure in tenures.sorted(by: { $0.start < $1.start }) {
            active.removeAll { $0.end < tenure.start }
            for other in active {
                let milliseconds = (min(other.end, tenure.end) - tenure.start) / 1_000_000
                found.append(
                    "worker \(other.worker) with token \(other.token) and worker \(tenure.worker) with token \(tenure.token), "
                        + "for \(milliseconds) ms"
                )
            }
            active.append(tenure)
        }
        return found
    }

    private static func repeated(_ tokens: [Int64]) -> [Int64] {
        Dictionary(grouping: tokens) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
    }

    private static func elements(_ records: [Record], _ final: [String]) -> Elements {
        func elements(_ kind: Record.Kind) -> [String] { records.filter { $0.kind == kind }.compactMap(\.element) }
        let (added, final) = (Set(elements(.added)), Set(final))
        return Elements(
            added: added.count,
            refused: elements(.refused).count,
            lost: added.subtracting(final).sorted(),
            unexpected: final.subtracting(elements(.attempted)).sorted()
        )
    }

    // MARK: Text

    /// The mistakes that must not be: those of the set that is guarded by the token.
    var violations: [String] {
        var violations: [String] = []
        if !store.lost.isEmpty {
            violations.append("\(store.lost.count) lost updates of the set in the store: \(store.lost.prefix(5))")
        }
        if !store.unexpected.isEmpty { violations.append("elements without an attempt: \(store.unexpected.prefix(5))") }
        if !repeatedTokens.isEmpty { violations.append("tokens of two leases: \(repeatedTokens)") }
        if !crashed.isEmpty { violations.append("workers that have ended by themselves: \(crashed)") }
        for workload in Record.Workload.allCases where leases[workload, default: 0] < 3 {
            violations.append("the workload \(workload.rawValue) has not run: \(leases[workload, default: 0]) leases")
        }
        if store.added < 3 { violations.append("the store has accepted \(store.added) elements: too few for a result") }
        return violations
    }

    var lines: [String] {
        let counts = Record.Workload.allCases.map { "\($0.rawValue) \(leases[$0, default: 0])" }
        return [
            "leases                                 \(counts.joined(separator: ", ")); lost: \(lost)",
            "valid leases that overlap              \(overlaps.count)",
        ] + overlaps.prefix(10).map { "    \($0)" } + [
            "set in a file, without a token         \(file.added) added, \(file.lost.count) lost",
            "set in the store                       \(store.added) added, \(store.refused) refused, \(store.lost.count) lost",
        ]
    }
}
