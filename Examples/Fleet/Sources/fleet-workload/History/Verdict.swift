/// The check of a history: overlapping leases, tokens, and lost updates.
struct Verdict: Hashable, Sendable {
    /// A set that workers have added elements to.
    struct Elements: Hashable, Sendable {
        /// The number of elements whose addition was acknowledged.
        var added = 0
        /// The number of additions that the store has refused.
        var refused = 0
        /// The acknowledged elements that are not in the set at the end.
        var lost: [String] = []
        /// The elements of the set that no worker has attempted to add.
        var unexpected: [String] = []
    }

    /// The number of leases, by workload.
    var leases: [Record.Workload: Int] = [:]
    /// The number of leases that were lost.
    var lost = 0
    /// The pairs of leases of one name that both processes have taken for valid at the same time.
    var overlaps: [Overlap] = []
    /// The tokens that two leases of one name have had.
    var repeatedTokens: [Int64] = []
    /// The places where a token was followed by one that is not greater.
    var disorder: [String] = []
    var file = Elements()
    var store = Elements()
    var conditions: Conditions

    /// Checks the records of a run.
    ///
    /// - Parameters:
    ///   - records: The records of all workers.
    ///   - conditions: The circumstances of the run.
    ///   - file: The set in the file at the end.
    ///   - store: The set in the store at the end, in the order in which the elements were added.
    init(_ records: [Record], _ conditions: Conditions, file: [String], store: [String]) {
        self.conditions = conditions
        for workload in Record.Workload.allCases {
            let records = records.filter { $0.workload == workload }
            let tenures = Tenure.all(in: records)
            leases[workload] = tenures.count
            lost += records.filter { $0.kind == .lost }.count
            overlaps += Overlap.all(in: tenures, of: workload)
            repeatedTokens += Self.repeated(tenures.map(\.token))
            disorder += Tenure.disorder(tenures).map { "\(workload.rawValue): \($0)" }
        }
        let (ofFile, ofStore) = (records.filter { $0.workload == .file }, records.filter { $0.workload == .store })
        self.file = Self.elements(ofFile, file)
        self.store = Self.elements(ofStore, store)
        disorder += Addition.disorder(ofStore, in: store).map { "set in the store: \($0)" }
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

    /// The duration of the longest overlap, in milliseconds.
    var longestOverlap: UInt64 { overlaps.map(\.milliseconds).max() ?? 0 }

    // MARK: Text

    /// The mistakes that must not be. Updates that were lost in the file, without a check of the token, are none.
    var violations: [String] {
        var violations: [String] = []
        if !store.lost.isEmpty {
            violations.append("\(store.lost.count) lost updates of the set in the store: \(store.lost.prefix(5))")
        }
        if !store.unexpected.isEmpty { violations.append("elements without an attempt: \(store.unexpected.prefix(5))") }
        if !repeatedTokens.isEmpty { violations.append("tokens of two leases: \(repeatedTokens)") }
        if !disorder.isEmpty { violations.append("tokens that do not increase: \(disorder.prefix(5))") }
        if !overlaps.isEmpty {
            violations.append("\(overlaps.count) overlaps of valid leases, of \(longestOverlap) ms at most")
        }
        for workload in Record.Workload.allCases where leases[workload, default: 0] < 3 {
            violations.append("the workload \(workload.rawValue) has not run: \(leases[workload, default: 0]) leases")
        }
        if store.added < 3 { violations.append("the store has accepted \(store.added) elements: too few for a result") }
        return violations + conditions.violations
    }

    /// Returns a summary with one line for each workload.
    ///
    /// - Parameters:
    ///   - place: The store.
    ///   - seconds: The duration of the run.
    func summary(_ place: String, seconds: Int) -> [String] {
        Record.Workload.allCases.map { workload in
            var operations = "\(leases[workload, default: 0]) leases"
            var updates = "no updates"
            switch workload {
            case .mutex: break
            case .file:
                operations += ", \(file.added) additions"
                updates = "\(file.lost.count) lost updates (no token is checked)"
            case .store:
                operations += ", \(store.added) additions, \(store.refused) refused"
                updates = "\(store.lost.count) lost updates"
            }
            let overlap = overlaps.filter { $0.workload == workload }.map(\.milliseconds).max() ?? 0
            return "\(place), \(workload.rawValue): \(seconds) s; \(operations); faults: \(conditions.faultText); "
                + "maximal overlap \(overlap) ms; \(updates)"
        }
    }
}
