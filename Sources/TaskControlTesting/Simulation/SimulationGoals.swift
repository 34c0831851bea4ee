/// The conditions of ``Simulation/sometimes(_:_:fileID:filePath:line:column:)`` in all runs of one call of `simulate`, and
/// whether each of them has held in any run. Used by one thread.
final class SimulationGoals {
    struct Goal: Hashable {
        let message: String
        let location: Simulation.Location
    }

    /// The goals in the order of their first checks.
    private var goals: [Goal] = []
    private var reached: Set<Goal> = []
    private var known: Set<Goal> = []

    func note(_ holds: Bool, _ message: String, _ location: Simulation.Location) {
        let goal = Goal(message: message, location: location)
        if known.insert(goal).inserted { goals.append(goal) }
        if holds { reached.insert(goal) }
    }

    var isUsed: Bool { !goals.isEmpty }

    /// The goals that were checked, and whose condition has never held.
    var missed: [Goal] { goals.filter { !reached.contains($0) } }
}
