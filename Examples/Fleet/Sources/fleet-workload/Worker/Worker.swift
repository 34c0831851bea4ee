import Foundation
import TaskControl
import TaskControlFleet

/// Takes leases, and does with them what must not be done by two processes at once.
///
/// The bodies ignore their cancellation on purpose: only the checks of the resource protect it.
struct Worker: Sendable {
    static let timeToLive = Duration.seconds(2)
    static let setKey = "set"

    let number: Int
    let store: any CoordinationStore
    let file: URL
    let checksTokens: Bool

    /// Runs a workload until the process ends.
    func `repeat`(_ workload: Record.Workload) async {
        let parent = getppid()
        for round in 0... {
            // A worker whose parent has ended, ends.
            if getppid() != parent { exit(0) }
            do {
                try await withLease(
                    workload.rawValue,
                    in: store,
                    timeToLive: Self.timeToLive,
                    holder: "worker \(number)"
                ) {
                    lease in
                    note(.entered, workload, lease.token)
                    defer { note(.left, workload, lease.token) }
                    switch workload {
                    case .mutex: await hold(lease)
                    case .file: try await regardlessOfCancellation { try await addToFile("\(number)-\(round)", lease) }
                    case .store:
                        try await regardlessOfCancellation { try await addToStore("\(number)-\(round)", lease) }
                    }
                }
            } catch is LeaseLostError {
                note(.lost, workload)
            } catch {
                note(.failed, workload, text: "\(error)")
                try? await Task.sleep(for: .milliseconds(100))
            }
            try? await Task.sleep(for: .milliseconds(.random(in: 1...100)))
        }
    }

    /// Holds a lease for up to one and a half seconds.
    private func hold(_ lease: Lease) async {
        let end = Record.now + .random(in: 0...1_500_000_000)
        while true {
            // The time before the question: then the lease was valid at this time or later, and it is not valid again once it was not.
            let time = Record.now
            guard time < end, lease.isValid else { return }
            note(.valid, .mutex, lease.token, time: time)
            do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
        }
    }

    private func addToFile(_ element: String, _ lease: Lease) async throws {
        let old = (try? Data(contentsOf: file)) ?? Data()
        try await think(lease, .file)
        note(.attempted, .file, lease.token, element)
        try (old + Data((element + "\n").utf8)).write(to: file, options: .atomic)
        note(.added, .file, lease.token, element)
    }

    private func addToStore(_ element: String, _ lease: Lease) async throws {
        let old = try await store.value(for: Self.setKey)
        try await think(lease, .store)
        let new = (old.map { $0 + Data(",".utf8) } ?? Data()) + Data(element.utf8)
        note(.attempted, .store, lease.token, element)
        let succeeded = try await store.commit(put: [Self.setKey: new], under: checksTokens ? lease : nil)
        note(succeeded ? .added : .refused, .store, lease.token, element)
    }

    /// Takes time between reading and writing: mostly less than a lease, and sometimes more than is left of one that cannot be renewed.
    private func think(_ lease: Lease, _ workload: Record.Workload) async throws {
        let end = Record.now + (Int.random(in: 0..<8) == 0 ? 1_500_000_000 : .random(in: 0...300_000_000))
        while true {
            let time = Record.now
            guard time < end else { return }
            if lease.isValid { note(.valid, workload, lease.token, time: time) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Runs an operation to its end, also when the lease is lost and the body is cancelled.
    private func regardlessOfCancellation(_ operation: @escaping @Sendable () async throws -> Void) async throws {
        try await Task { try await operation() }.value
    }

    private func note(
        _ kind: Record.Kind,
        _ workload: Record.Workload,
        _ token: Lease.FencingToken? = nil,
        _ element: String? = nil,
        time: UInt64 = Record.now,
        text: String? = nil
    ) {
        let record = Record(
            kind: kind,
            workload: workload,
            worker: number,
            time: time,
            token: token?.rawValue,
            element: element,
            text: text.map { String($0.prefix(500)) }
        )
        guard let line = try? JSONEncoder().encode(record) + Data("\n".utf8) else { return }
        // One call: shorter than a pipe's atomic size, so that a process that is killed leaves whole lines.
        _ = line.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
