/// An element that was added to the set in the store, and when.
struct Addition: Hashable, Sendable {
    let element: String
    let token: Int64
    let start: UInt64
    let end: UInt64

    /// Returns the elements whose token is less than that of an earlier one.
    ///
    /// An element is earlier if it is before the other one in the set, which is in the order of the transactions, or if its addition was acknowledged
    /// before that of the other one began. The times of the acknowledgments alone have no order: a process can be stopped between an answer and its
    /// record.
    static func disorder(_ records: [Record], in set: [String]) -> [String] {
        let attempts = Dictionary(
            records.filter { $0.kind == .attempted && $0.element != nil }.map { ($0.element!, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        var found: [String] = []
        var greatest: (element: String, token: Int64)?
        for element in set {
            guard let token = attempts[element]?.token else { continue }
            if let greatest, token < greatest.token {
                found.append("\(element) with token \(token) behind \(greatest.element) with token \(greatest.token)")
            } else {
                greatest = (element, token)
            }
        }
        return found + disorder(additions(records, attempts))
    }

    private static func additions(_ records: [Record], _ attempts: [String: Record]) -> [Addition] {
        records.compactMap { record in
            guard record.kind == .added, let element = record.element, let token = record.token,
                let attempt = attempts[element]
            else { return nil }
            return Addition(element: element, token: token, start: attempt.time, end: record.time)
        }
    }

    private static func disorder(_ additions: [Addition]) -> [String] {
        var found: [String] = []
        var ended = additions.sorted { $0.end < $1.end }[...]
        var greatest: Addition?
        for addition in additions.sorted(by: { $0.start < $1.start }) {
            while let first = ended.first, first.end < addition.start {
                if first.token > greatest?.token ?? .min { greatest = first }
                ended.removeFirst()
            }
            if let greatest, addition.token < greatest.token {
                found.append(
                    "\(addition.element) with token \(addition.token) after \(greatest.element) with token \(greatest.token)"
                )
            }
        }
        return found
    }
}
