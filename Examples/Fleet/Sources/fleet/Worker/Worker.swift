import Foundation
import TaskControl
import TaskControlFleet
import TaskControlSupervision

/// A process of the fleet: takes part in the election, and runs the job while it is the leader.
struct Worker: Sendable {
    let name: String
    let store: any CoordinationStore
    let timeToLive: Duration
    let steps: Int
    let stepDuration: Duration
    let director: DirectorConnection

    /// The entry that says that the job of this night is done.
    private static let done = "night/done"

    /// The ledger has refused a step: another worker has a higher token.
    private struct Refused: Error, CustomStringConvertible {
        let highest: Int64
        var description: String { "the ledger has seen the token \(highest)" }
    }

    /// Returns when the job is done.
    func run() async throws {
        let lifetime = AsyncLifetime(name: "worker \(name)")
        let election = LeaderElection("nightly-job", in: store, timeToLive: timeToLive, holder: "worker \(name)")
        let work = election.lead(in: lifetime) { lease in try await tenure(lease) }
        for await state in work.states where state.isFinal { break }
        if case .failed(let failures) = work.state, let last = failures.last { throw last.error }
    }

    private func tenure(_ lease: Lease) async throws {
        try director.send(.elected(token: lease.token.rawValue))
        do {
            let end = try await runJob(lease)
            try director.send(.resigned(token: lease.token.rawValue, end))
        } catch {
            let isLost = !lease.isValid
            try director.send(.resigned(token: lease.token.rawValue, isLost ? .lost("\(error)") : .failed("\(error)")))
            throw error
        }
    }

    private func runJob(_ lease: Lease) async throws -> Message.End {
        let token = lease.token.rawValue
        if try await store.value(for: Self.done) != nil { return .foundTheJobDone }
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
        // Only the holder of the lease, and only once.
        let record = StoreTransaction(if: [.absent(Self.done)], put: [Self.done: Data(name.utf8)])
        guard try await store.commit(lease.guarded(record)) else {
            throw LeaseLostError(name: lease.name, reason: .removed)
        }
        return .finishedTheJob
    }
}
