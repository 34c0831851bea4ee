import Foundation
import TaskControl
import TaskControlFleet

/// A process of the fleet: runs the job of the night, unless another process does, and returns when the job is done.
struct Worker: Sendable {
    let name: String
    let store: any CoordinationStore
    let timeToLive: Duration
    let steps: Int
    let stepDuration: Duration
    let director: DirectorConnection

    /// The ledger has refused a step: another worker has a higher token.
    private struct Refused: Error, CustomStringConvertible {
        let highest: Int64
        var description: String { "the ledger has seen the token \(highest)" }
    }

    /// Returns when the job is done.
    func run() async throws {
        // A worker that has lost its lease waits for it again.
        try await retry(RetryPolicy(attempts: 5, shouldRetry: { $0 is LeaseLostError })) {
            try await runOnce(
                "nightly-job",
                for: "tonight",
                in: store,
                timeToLive: timeToLive,
                holder: "worker \(name)"
            ) { lease in
                try await tenure(lease)
            }
        }
    }

    private func tenure(_ lease: Lease) async throws {
        try director.send(.elected(token: lease.token.rawValue))
        do {
            try await runJob(lease)
            try director.send(.resigned(token: lease.token.rawValue, .finishedTheJob))
        } catch {
            let isLost = !lease.isValid
            try director.send(.resigned(token: lease.token.rawValue, isLost ? .lost("\(error)") : .failed("\(error)")))
            throw error
        }
    }

    private func runJob(_ lease: Lease) async throws {
        let token = lease.token.rawValue
        // From here on the ledger refuses workers that held the lease before.
        switch try await director.ask(.begin(token: token)) {
        case .written(let written):
            for step in 1...steps where !written.contains(step) {
                try lease.check()
                let reply = try await director.ask(.write(step: step, token: token))
                if case .refused(let highest) = reply { throw Refused(highest: highest) }
                try await Task.sleep(for: stepDuration)
            }
        case .refused(let highest): throw Refused(highest: highest)
        case .accepted: preconditionFailure("The director accepts steps only.")
        }
    }
}
