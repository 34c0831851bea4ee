/// The names and the creators of the tasks of one simulation, by the numbers of the tasks.
///
/// Every simulation records them, and hardly any reads them: a ``SimulationTask``, of five times the size, is made when it is read.
final class SimulatedTasks {
    private struct Entry {
        let creator: CompactNumber
        /// The index of the name.
        let name: CompactNumber
    }

    /// The name of a task whose creation was not seen, by its index in ``names``.
    enum UnseenName: Int {
        case body, timer, asyncLet
    }

    private static let unseenNames = ["body", "a timer", "async let"]

    // Exclusivity is not checked, as for the state of a step in the engine.
    @exclusivity(unchecked) private var entries = FlatArray<Entry>()
    /// The names that the simulation gives, and the names that the code under test has given.
    private var names = SimulatedTasks.unseenNames

    var all: [SimulationTask] { (0..<entries.count).map { self[$0] } }

    /// Adds the next task, which was not seen when it was created.
    func append(_ name: UnseenName?, creator: Int?) {
        entries.append(Entry(creator: CompactNumber(creator), name: CompactNumber(name?.rawValue)))
    }

    /// Sets the data of a task whose creation was seen.
    func set(_ number: Int, name: String?, creator: Int?) {
        var index: Int?
        if let name {
            index = names.count
            names.append(name)
        }
        entries[number] = Entry(creator: CompactNumber(creator), name: CompactNumber(index))
    }

    func isTimer(_ number: Int) -> Bool { entries[number].name.isEqual(to: UnseenName.timer.rawValue) }

    subscript(number: Int) -> SimulationTask {
        let entry = entries[number]
        return SimulationTask(number: number, name: entry.name.value.map { names[$0] }, creator: entry.creator.value)
    }
}
