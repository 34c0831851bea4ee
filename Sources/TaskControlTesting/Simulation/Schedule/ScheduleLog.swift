/// The last steps of a schedule, in a compact form without texts. The steps of all schedules are recorded, but only the
/// steps of failures are read.
final class ScheduleLog {
    /// The state of a task, as in `SimulationTaskState`, but with the number of an awaited task instead of the task,
    /// and with the numbers of actors and the IDs of the types of executors instead of their names.
    ///
    /// Times are in nanoseconds since the beginning of the run. The type is trivial, which makes it quick to record a
    /// step even in a debug build.
    enum State {
        case ready, yielded, awaitingContinuation, awaitingChildTasks, ended, lost, unknown
        case sleeping(until: Int64)
        case awaitingTask(Int?)
        case awaitingActor(Int)
        case outside(executor: TypeID)
    }

    enum Event {
        case ran(State)
        case actorTurn
        case action
        /// The program added a note (see ``Simulation/note(_:fileID:filePath:line:column:)``). The value is the index
        /// of the note's text and location.
        case note(Int)
        /// A call blocked its thread. The value is the index of the text that describes the call.
        case blocked(Int)

        // Transparent, so that the compiler keeps no variable for the debugger: see FlatArray.
        var parts: (kind: Kind, value: UInt64) {
            @_transparent get {
                switch self {
                case .actorTurn: (.actorTurn, 0)
                case .action: (.action, 0)
                case .ran(.ready): (.ready, 0)
                case .ran(.yielded): (.yielded, 0)
                case .ran(.awaitingContinuation): (.awaitingContinuation, 0)
                case .ran(.awaitingChildTasks): (.awaitingChildTasks, 0)
                case .ran(.ended): (.ended, 0)
                // A task that is lost makes no step.
                case .ran(.unknown), .ran(.lost): (.unknown, 0)
                case .note(let index): (.note, UInt64(index))
                case .blocked(let index): (.blocked, UInt64(index))
                case .ran(.sleeping(let deadline)): (.sleeping, UInt64(bitPattern: deadline))
                case .ran(.awaitingTask(.none)): (.awaitingTask, 0)
                case .ran(.awaitingTask(.some(let number))): (.awaitingTask, UInt64(number) &+ 1)
                case .ran(.awaitingActor(let number)): (.awaitingActor, UInt64(number))
                case .ran(.outside(let type)): (.outside, type.bits)
                }
            }
        }
    }

    /// The kind of a recorded entry. For the kinds from `note` on, the entry contains a value, such as the index of a
    /// text.
    enum Kind: Int {
        case actorTurn, action, ready, yielded, awaitingContinuation, awaitingChildTasks, ended, unknown
        case note, blocked, sleeping, awaitingTask, awaitingActor, outside
    }

    /// The recorded entries, in order. An entry begins with a *mark*: a number whose bits state which further numbers
    /// the entry contains. Most entries consist of a mark and the number of a task, and take three bytes.
    ///
    /// The mark is a ``Kind``, plus 16 if the entry contains a task, 32 if it contains an actor, 64 if it contains the number of the step
    /// (because the number does not follow that of the previous entry), and 128 if it contains a time (because it differs from that of the
    /// previous entry).
    private struct Tape: ~Copyable {
        var numbers = NumberTape()
        var count = 0
        /// The number and the time of the last entry.
        private var last: (number: Int, time: Int64) = (-1, 0)

        mutating func append(_ kind: Int, _ value: UInt64, _ task: Int?, _ actor: Int?, _ number: Int, _ time: Int64) {
            let (isNext, isSameTime) = (number == last.number &+ 1, time == last.time)
            numbers.append(
                kind | (task == nil ? 0 : 16) | (actor == nil ? 0 : 32) | (isNext ? 0 : 64) | (isSameTime ? 0 : 128)
            )
            if kind >= Kind.note.rawValue { numbers.append(value) }
            if let task { numbers.append(task) }
            if let actor { numbers.append(actor) }
            if !isNext { numbers.append(number) }
            if !isSameTime { numbers.append(UInt64(bitPattern: time)) }
            last.number = number
            last.time = time
            count &+= 1
        }
    }

    private let capacity: Int
    // Exclusivity is not checked, as for the state of a step in the engine.
    @exclusivity(unchecked) private var older = Tape()
    @exclusivity(unchecked) private var recent = Tape()
    private var texts: [(text: String, location: String?)] = []
    let tasks = SimulatedTasks()
    /// The types of the actors, indexed by the numbers of the actors.
    @exclusivity(unchecked) private var actors = FlatArray<TypeID>()
    /// The names of the actors, which are made when one is asked for.
    private var actorNames: [String] = []

    /// Creates an empty log.
    ///
    /// - Parameter capacity: The minimum number of the last steps that are kept. The default suffices for all steps of
    ///   a schedule with the default `maxSteps` of `simulate`.
    init(capacity: Int = 100_000) {
        self.capacity = capacity
    }

    /// Whether the log does not know the actor with a number yet: it must then be added.
    func isNew(_ actor: Int) -> Bool { actor == actors.count }

    /// Adds the actor with the next number.
    func add(_ type: TypeID) { actors.append(type) }

    func type(ofActor actor: Int) -> any Any.Type { actors[actor].type }

    /// The name of an actor: that of its type, and a number if the simulation has several actors of this type.
    func name(ofActor actor: Int) -> String {
        if actorNames.count < actors.count {
            var counts: [UInt64: Int] = [:]
            let numbers = (0..<actors.count).map { index in
                counts[actors[index].bits, default: 0] += 1
                return counts[actors[index].bits]!
            }
            actorNames = numbers.enumerated().map { index, number in
                let type = actors[index]
                return counts[type.bits] == 1 ? "\(type.type)" : "\(type.type) \(number)"
            }
        }
        return actorNames[actor]
    }

    func append(_ event: Event, of task: Int?, on actor: Int?, number: Int, at time: Int64) {
        if recent.count == capacity {
            swap(&older, &recent)
            recent = Tape()
        }
        let (kind, value) = event.parts
        recent.append(kind.rawValue, value, task, actor, number, time)
    }

    /// Stores a text, and returns the index with which an ``Event`` refers to it.
    ///
    /// - Parameters:
    ///   - text: The text of a note, or a description of a call that blocks its thread.
    ///   - location: The source location of a note in the form `path:line:column`; `nil` for a blocking call.
    func text(_ text: String, location: String? = nil) -> Int {
        texts.append((text, location))
        return texts.count - 1
    }

    /// Removes all entries: tasks that are never deallocated may retain the log.
    func removeAll() {
        older = Tape()
        recent = Tape()
        texts = []
        tasks.removeAll()
        actors = FlatArray()
    }

    // MARK: Text

    var steps: [SimulationStep] { steps(of: older) + steps(of: recent) }

    private struct Entry {
        let number: Int
        let time: Int64
        let task: Int?
        let actor: Int?
        let kind: Kind
        let value: UInt64
    }

    private func forEachEntry(of tape: borrowing Tape, _ body: (Entry) -> Void) {
        var (position, number, time) = (0, -1, 0 as Int64)
        while position < tape.numbers.end {
            let mark = tape.numbers.integer(at: &position)
            let kind = Kind(rawValue: mark & 15)!
            let value = kind.rawValue >= Kind.note.rawValue ? tape.numbers.number(at: &position) : 0
            let task = mark & 16 == 0 ? nil : tape.numbers.integer(at: &position)
            let actor = mark & 32 == 0 ? nil : tape.numbers.integer(at: &position)
            number = mark & 64 == 0 ? number + 1 : tape.numbers.integer(at: &position)
            if mark & 128 != 0 { time = Int64(bitPattern: tape.numbers.number(at: &position)) }
            body(Entry(number: number, time: time, task: task, actor: actor, kind: kind, value: value))
        }
    }

    private func steps(of tape: borrowing Tape) -> [SimulationStep] {
        var steps: [SimulationStep] = []
        steps.reserveCapacity(tape.count)
        forEachEntry(of: tape) { entry in
            steps.append(
                SimulationStep(
                    number: entry.number,
                    time: .nanoseconds(entry.time),
                    task: entry.task.map { tasks[$0] },
                    actor: entry.actor.map { name(ofActor: $0) },
                    event: event(entry.kind, entry.value),
                    location: entry.kind == .note ? texts[Int(entry.value)].location : nil
                )
            )
        }
        return steps
    }

    /// The hand-overs of the run, as hashes: two tasks that took steps one after another on an actor of one type, and how many steps each of them had
    /// taken there.
    var handovers: Set<Int> {
        var (handovers, last, counts): (Set<Int>, [UInt64: Int], [Place: Int]) = ([], [:], [:])
        func visit(_ entry: Entry) {
            guard let task = entry.task, let actor = entry.actor.map({ actors[$0].bits }), entry.kind != .note,
                entry.kind != .blocked
            else {
                return
            }
            let place = Place(task: task, actor: actor)
            if let former = last.updateValue(task, forKey: actor), former != task {
                let count = counts[Place(task: former, actor: actor), default: 0]
                var hasher = Hasher()
                hasher.combine(Place(task: former, actor: actor))
                hasher.combine(min(count, Self.mostDistinguishedSteps))
                hasher.combine(task)
                hasher.combine(min(counts[place, default: 0], Self.mostDistinguishedSteps))
                handovers.insert(hasher.finalize())
            }
            counts[place, default: 0] += 1
        }
        forEachEntry(of: older, visit)
        forEachEntry(of: recent, visit)
        return handovers
    }

    private struct Place: Hashable {
        let task: Int
        let actor: UInt64
    }

    /// Later steps of a task count as one, so that a loop does not always do something new.
    private static let mostDistinguishedSteps = 16

    private func event(_ kind: Kind, _ value: UInt64) -> SimulationStep.Event {
        switch kind {
        case .actorTurn: .actorTurn
        case .action: .action
        case .note: .note(texts[Int(value)].text)
        case .blocked: .blocked(texts[Int(value)].text)
        case .ready: .ran(.ready)
        case .yielded: .ran(.yielded)
        case .awaitingContinuation: .ran(.awaitingContinuation)
        case .awaitingChildTasks: .ran(.awaitingChildTasks)
        case .ended: .ran(.ended)
        case .unknown: .ran(.unknown)
        case .sleeping: .ran(state(.sleeping(until: Int64(bitPattern: value))))
        case .awaitingTask: .ran(state(.awaitingTask(value == 0 ? nil : Int(value) - 1)))
        case .awaitingActor: .ran(state(.awaitingActor(Int(value))))
        case .outside: .ran(state(.outside(executor: TypeID(bits: value))))
        }
    }

    func state(_ state: State) -> SimulationTaskState {
        switch state {
        case .ready: .ready
        case .yielded: .yielded
        case .awaitingContinuation: .awaitingContinuation
        case .awaitingChildTasks: .awaitingChildTasks
        case .ended: .ended
        case .lost: .lost
        case .unknown: .unknown
        case .sleeping(let deadline): .sleeping(until: .nanoseconds(deadline))
        case .awaitingTask(let number): .awaitingTask(number.map { tasks[$0] })
        case .awaitingActor(let number): .awaitingActor(name(ofActor: number))
        case .outside(let id): .outside(executor: "\(id.type)")
        }
    }

    /// Returns a text that describes the first step in which the run of this log and another run differ. The two runs
    /// must differ.
    func divergence(from other: ScheduleLog) -> String {
        let (one, two) = (steps, other.steps)
        let index = zip(one, two).enumerated().first { $1.0 != $1.1 }?.offset ?? min(one.count, two.count)
        func text(_ steps: [SimulationStep]) -> String {
            index < steps.count ? "\(steps[index])" : "ended after \(steps.count) steps"
        }
        return "the runs part at step \(index):\n  the first: \(text(one))\n  the second: \(text(two))\n"
    }
}
