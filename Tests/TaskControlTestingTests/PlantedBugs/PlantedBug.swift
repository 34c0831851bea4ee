import TaskControlTesting
import Testing

/// A bug that somebody could have written, and its correct twin.
struct PlantedBug: Sendable, CustomTestStringConvertible {
    typealias Body = @Sendable (Simulation) async throws -> Void

    let name: String
    /// Within how many seeds every strategy finds it.
    let bound: UInt64
    /// Whether picking at random, too, finds it in reasonable time.
    var isFoundAtRandom = true
    let bug: Body
    let twin: Body

    var testDescription: String { name }

    static let all: [PlantedBug] = [
        lostUpdate, checkThenAct, tokenStampede, abaRemoval, missedWakeUp, lockOrder, droppedContinuation,
        lateRegistration,
        leftBehind,
    ]

    /// How many schedules until it fails: the last of them is the seed that does.
    ///
    /// - Returns: `nil` if none of so many does.
    static func schedulesToFailure(
        of body: @escaping Body,
        strategy: SimulationStrategy,
        from first: UInt64 = 0,
        limit: UInt64
    ) throws -> (count: UInt64, failure: SimulationFailure)? {
        do {
            try simulate(seeds: first..<first + limit, strategy: strategy) { try await body($0) }
            return nil
        } catch let failure as SimulationFailure {
            return (failure.seed - first + 1, failure)
        }
    }
}
