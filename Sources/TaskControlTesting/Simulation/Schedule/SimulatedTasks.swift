/// The names and the creators of the tasks of one simulation, indexed by the tasks' numbers.
///
/// Every simulation records this data, but only the report of a failure reads it. A `SimulationTask`, which is five times as large, is
/// created only then.
final class SimulatedTasks {
    private struct Entry {
        let creator: CompactNumber
        /// The index of the task's name in ``names``; `nil` if the task has no name.
        let name: CompactNumber
    }

    /// The name of a task whose creation the simulation has not noticed, as an index into ``names``.
    enum UnseenName: Int {
        case body, timer, asyncLet
    }

    private static let unseenNames = ["body", "a timer", "async let"]

    // Exclusivity is not checked, as for the state of a step in the engine.
    @exclusivity(unchecked) private var entries = FlatArray<Entry>()
    /// The names that the simulation itself uses, followed by the names that the code under test has given.
    private var names = SimulatedTasks.unseenNames

    var all: [SimulationTask] { (0..<entries.count).map { self[$0] } }

    /// Adds a task whose creation the simulation has not noticed. The task gets the next number. If the simulation
    /// notices the creation afterwards, ``set(_:name:creator:)`` replaces the data of the task.
    ///
    /// - Parameters:
    ///   - name: The name of the task; `nil` for none.
    ///   - creator: The number of the task that created the task; `nil` if the creator is unknown.
    func append(_ name: UnseenName?, creator: Int?) {
        entries.append(Entry(creator: CompactNumber(creator), name: CompactNumber(name?.rawValue)))
    }

    /// Sets the data of a task whose creation the simulation has noticed.
    ///
    /// - Parameters:
    ///   - number: The number of the task.
    ///   - name: The name of the task; `nil` if it has none.
    ///   - creator: The number of the task that created the task; `nil` if the creator is unknown.
    func set(_ number: Int, name: String?, creator: Int?) {
        var index: Int?
        if let name {
            index = names.count
            names.append(name)
        }
        entries[number] = Entry(creator: CompactNumber(creator), name: CompactNumber(index))
    }

    func removeAll() {
        entries = FlatArray()
        names = Self.unseenNames
    }

    func isTimer(_ number: Int) -> Bool { entries[number].name.isEqual(to: UnseenName.timer.rawValue) }

    subscript(number: Int) -> SimulationTask {
        let entry = entries[number]
        return SimulationTask(number: number, name: entry.name.value.map { names[$0] }, creator: entry.creator.value)
    }
}

/// The identity of a type, as a trivial value. (The compiler does not consider a metatype trivial.)
struct TypeID: BitwiseCopyable {
    private let pointer: UnsafeRawPointer

    init(_ type: any Any.Type) {
        // A metatype is one pointer, which is never deallocated.
        pointer = unsafeBitCast(type, to: UnsafeRawPointer.self)
    }

    /// Creates the ID of a type from the ``bits`` of another ID of the same type.
    init(bits: UInt64) {
        pointer = UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: bits))!
    }

    var bits: UInt64 { UInt64(UInt(bitPattern: pointer)) }

    var type: any Any.Type { unsafeBitCast(pointer, to: Metatype.self) }

    private typealias Metatype = any Any.Type
}
