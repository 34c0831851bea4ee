/// The time in which a process has taken its lease for valid.
struct Tenure: Hashable, Sendable {
    let worker: Int
    let token: Int64
    /// The range from the first to the last time at which the lease was valid; `nil` if the lease was never seen to be valid. The beginning of the
    /// body proves nothing: the process can have been stopped before.
    var valid: ClosedRange<UInt64>?

    /// Returns the tenures of one name.
    static func all(in records: [Record]) -> [Tenure] {
        var tenures: [Tenure] = []
        var indices: [[Int64]: Int] = [:]
        for record in records {
            guard let token = record.token else { continue }
            let key = [Int64(record.worker), token]
            switch record.kind {
            case .entered:
                indices[key] = tenures.count
                tenures.append(Tenure(worker: record.worker, token: token))
            case .valid:
                guard let index = indices[key] else { continue }
                let valid = tenures[index].valid ?? record.time...record.time
                tenures[index].valid = min(valid.lowerBound, record.time)...max(valid.upperBound, record.time)
            default: break
            }
        }
        return tenures
    }

    /// Returns the tenures that follow one with the same or a greater token.
    static func disorder(_ tenures: [Tenure]) -> [String] {
        let valid = tenures.compactMap { tenure in tenure.valid.map { (start: $0.lowerBound, tenure: tenure) } }
            .sorted { $0.start < $1.start }.map(\.tenure)
        return zip(valid, valid.dropFirst()).filter { $0.token >= $1.token }.map {
            "worker \($1.worker) with token \($1.token) after worker \($0.worker) with token \($0.token)"
        }
    }
}
