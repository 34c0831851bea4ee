import Foundation

/// The records of all workers, as they arrive.
///
/// Sendable: the state is reached under the lock alone.
final class History: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [Record] = []
    private var broken = 0
    /// The workers that are in the body of a lease, with the workload.
    private var inside: [Int: Set<Record.Workload>] = [:]

    /// Adds the record of a line, or counts a line that is none.
    func add(line: Data) {
        if let record = try? JSONDecoder().decode(Record.self, from: line) {
            add(record)
        } else {
            lock.withLock { broken += 1 }
        }
    }

    /// The number of lines that are no records.
    var brokenLines: Int { lock.withLock { broken } }

    private func add(_ record: Record) {
        lock.withLock {
            all.append(record)
            switch record.kind {
            case .entered: inside[record.worker, default: []].insert(record.workload)
            case .left: inside[record.worker]?.remove(record.workload)
            default: break
            }
        }
    }

    var records: [Record] { lock.withLock { all } }

    /// Returns a worker that holds a lease of a workload now.
    func holder(of workload: Record.Workload) -> Int? {
        lock.withLock { inside.first { $0.value.contains(workload) }?.key }
    }

    /// Forgets a worker that has ended.
    func forget(_ worker: Int) { lock.withLock { inside[worker] = nil } }
}
