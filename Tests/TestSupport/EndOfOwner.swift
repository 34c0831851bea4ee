package import TaskControl
internal import TaskControlTesting
internal import Testing

/// A call that ends the work of an owner, or the deallocation of the owner.
package enum EndingCall: String, CaseIterable, Sendable {
    case cancelAll, cancelAllForAReason, close, deallocation

    /// Ends the owner.
    package func end<Owner: TaskOwner>(_ owner: Locked<Owner?>) {
        // Released here, where the lock is free, and not before: the object may be the last reference.
        switch self {
        case .cancelAll: owner.withLock(\.self)?.cancelAll()
        case .cancelAllForAReason: owner.withLock(\.self)?.cancelAll(because: "signed out")
        case .close: owner.withLock(\.self)?.close()
        case .deallocation: _ = owner.withLock { $0.take() }
        }
    }
}

/// Notes work that begins after the call that ended its owner has returned, or that continues then without being cancelled.
package final class EndWitness: Sendable {
    private struct State {
        var hasEnded = false
        var steps = 0
        var late: [String] = []
    }

    private let state = Locked(State())

    package init() {}

    /// Called by work that begins.
    package func begins(_ work: String) {
        state.withLock { state in
            state.steps += 1
            if state.hasEnded { state.late.append("\(work) begins") }
        }
    }

    /// Called by work that has begun, at each of its steps.
    package func continues(_ work: String) {
        let isCancelled = Task.isCancelled
        state.withLock { state in
            state.steps += 1
            if state.hasEnded, !isCancelled { state.late.append("\(work) is not cancelled") }
        }
    }

    /// Called when the call that ends the owner has returned.
    package func hasEnded() { state.withLock { $0.hasEnded = true } }

    /// Whether the call that ends the owner has returned.
    package var isEnded: Bool { state.withLock(\.hasEnded) }

    /// The notes.
    package var late: [String] { state.withLock(\.late) }

    /// The number of steps of the work.
    package var steps: Int { state.withLock(\.steps) }
}

/// Starts work of an owner, ends the owner at any point of many schedules, and expects that then no work of the owner begins, and that each is
/// cancelled.
///
/// - Parameters:
///   - make: Creates the owner.
///   - ends: The ends that the owner has.
///   - start: Starts the work, which calls the witness.
package func expectNothingAfterTheEnd<Owner: TaskOwner>(
    of make: @escaping @Sendable (EndWitness) -> Owner,
    ends: [EndingCall] = EndingCall.allCases,
    seeds: Range<UInt64>,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    start: @escaping @Sendable (Owner, EndWitness) -> Void
) throws {
    for end in ends {
        let steps = Locked(0)
        try simulate(seeds: seeds) { sim in
            let witness = EndWitness()
            let owner = Locked<Owner?>(make(witness))
            if let owner = owner.withLock(\.self) { start(owner, witness) }
            sim.atAnyPoint {
                end.end(owner)
                witness.hasEnded()
            }
            try await Task.sleep(for: .seconds(50))
            let rest = owner.withLock { $0.take() }
            rest?.close()
            steps.withLock { $0 += witness.steps }
            sim.expect(witness.late.isEmpty, "\(end.rawValue): \(witness.late)")
        }
        #expect(steps.withLock(\.self) > 0, "the work runs before \(end.rawValue)")
    }
}
