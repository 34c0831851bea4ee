#if os(Linux) || canImport(Darwin)
import CTaskControlTesting

/// The tasks of a simulation: their names, their creators, and which have not ended.
///
/// The ledger retains each task until the task has ended, so that its state can be read. Tasks are numbered in the order of their creation,
/// which the schedule decides.
struct TaskLedger: ~Copyable {
    private struct Entry {
        var isTimer = false
        /// The type of the actor that the task waits for.
        var destination: TypeID?
        /// The type of the executor outside the simulation that the task has gone to. Another thread may be running the task.
        var foreignExecutor: TypeID?
        /// The task; `nil` if it has ended, or if its memory belongs to its parent (`async let`), so that its state must not be read.
        var task: UnsafeMutableRawPointer?
    }

    /// Whether the states of tasks can be read. If not, no task is retained, and none is ever seen to end.
    let readsStates: Bool
    /// Whether all creations are seen, except by the runtime itself. If not, a task is discovered when it is enqueued first.
    private let seesCreation: Bool

    private var entries = FlatArray<Entry>()
    /// The tasks by their numbers.
    private(set) var tasks: [SimulationTask] = []
    private var numbers = TaskNumbers()
    /// The tasks that have not ended. It may contain tasks that have ended since the last sweep.
    private(set) var unended = FlatArray<Int>()
    private var runsSinceSweep = 0

    /// The ID of the body.
    private var firstID: UInt64?

    init(_ capabilities: SimulationCapabilities) {
        seesCreation = capabilities.includes(.createdTasks)
        readsStates = seesCreation && capabilities.includes(.taskStates)
    }

    /// - Returns: The number of the task.
    mutating func created(_ task: UnsafeMutableRawPointer, name: String?) -> Int {
        // The task has been enqueued already, and therefore has a number.
        let number = number(of: task)
        if readsStates {
            tc_retain(task)
            unended.append(number)
        }
        tasks[number] = SimulationTask(number: number, name: name, creator: current)
        entries[number].task = readsStates ? task : nil
        return number
    }

    func knows(_ task: UnsafeMutableRawPointer) -> Bool {
        numbers[tc_taskID(task)] != nil
    }

    /// Returns the number of a task. An unknown task was created by the runtime itself, for an `async let` or a sleep, and receives a number.
    mutating func number(of task: UnsafeMutableRawPointer, isTimer: Bool = false) -> Int {
        let id = tc_taskID(task)
        if let number = numbers[id] { return number }
        let number = entries.count
        tasks.append(SimulationTask(number: number, name: name(ofUnseen: id, isTimer), creator: current))
        entries.append(Entry(isTimer: isTimer))
        numbers.insert(number, for: id)
        return number
    }

    private mutating func name(ofUnseen id: UInt64, _ isTimer: Bool) -> String? {
        if firstID == nil {
            firstID = id
            return "body"
        }
        if isTimer { return "a timer" }
        return seesCreation ? "async let" : nil
    }

    /// Whether a task may have been created in the simulation, unseen: whether it was created after the body.
    func mayDiscover(_ task: UnsafeMutableRawPointer) -> Bool {
        guard !seesCreation, let firstID else { return false }
        return tc_taskID(task) > firstID
    }

    /// The number of the running task; `nil` if no task of the simulation runs.
    var current: Int? {
        guard let task = tc_currentTask() else { return nil }
        return numbers[tc_taskID(task)]
    }

    /// Whether a task is a timer, which ends a sleep.
    func isTimer(_ number: Int) -> Bool { entries[number].isTimer }

    mutating func waits(_ number: Int, for actor: TypeID?) {
        entries[number].destination = actor
    }

    mutating func went(_ number: Int, to foreignExecutor: TypeID) {
        entries[number].foreignExecutor = foreignExecutor
    }

    // MARK: States

    /// Returns the state of a task; `nil` if the state must not be read.
    func state(of number: Int) -> ScheduleLog.State? {
        if let executor = entries[number].foreignExecutor { return .outside(executor: executor) }
        if let actor = entries[number].destination { return .awaitingActor(actor) }
        guard let task = entries[number].task else { return nil }
        var on: UnsafeMutableRawPointer?
        // The raw values, since `==` of the states is generic, and slow in a debug build.
        switch tc_taskState(task, &on).rawValue {
        case TCTaskFinished.rawValue: return .ended
        case TCTaskAwaitsTask.rawValue:
            guard let on else { return .awaitingTask(nil) }
            return .awaitingTask(numbers[tc_taskID(on)])
        case TCTaskAwaitsContinuation.rawValue: return .awaitingContinuation
        case TCTaskAwaitsGroup.rawValue: return .awaitingChildTasks
        case TCTaskAwaitsExecutor.rawValue:
            // A task that waits for an executor, and for no actor, could run.
            guard let on else { return .ready }
            return .awaitingActor(TypeID(type(of: Unmanaged<AnyObject>.fromOpaque(on).takeUnretainedValue())))
        default: return .ready
        }
    }

    /// Notes that a task ran.
    ///
    /// - Returns: The task, if it has ended. The caller must release it after this call: the release may deallocate objects that create tasks.
    mutating func hasRun(_ number: Int) -> UnsafeMutableRawPointer? { takeIfEnded(number) }

    /// Notes that an actor had its turn, in which any task may have run.
    ///
    /// - Returns: Whether it is time for a ``sweep()``.
    mutating func actorHasRun() -> Bool {
        runsSinceSweep += 1
        return runsSinceSweep > unended.count
    }

    /// Finds all tasks that have ended.
    ///
    /// - Returns: The tasks that the caller must release after this call.
    /// - Complexity: O(*n*) in the number of unended tasks.
    mutating func sweep() -> FlatArray<UnsafeMutableRawPointer> {
        runsSinceSweep = 0
        var ended = FlatArray<UnsafeMutableRawPointer>()
        var unended = FlatArray<Int>()
        for index in 0..<self.unended.count {
            let number = self.unended[index]
            if let task = takeIfEnded(number) { ended.append(task) }
            if entries[number].task != nil { unended.append(number) }
        }
        self.unended = unended
        return ended
    }

    private mutating func takeIfEnded(_ number: Int) -> UnsafeMutableRawPointer? {
        guard let task = entries[number].task, tc_hasEnded(task) else { return nil }
        entries[number].task = nil
        return task
    }

    /// Removes all tasks, whether or not they have ended.
    ///
    /// - Returns: The tasks that the caller must release after this call.
    mutating func close() -> FlatArray<UnsafeMutableRawPointer> {
        var open = FlatArray<UnsafeMutableRawPointer>()
        for index in 0..<unended.count {
            let number = unended[index]
            if let task = entries[number].task { open.append(task) }
            entries[number].task = nil
        }
        unended = FlatArray()
        return open
    }

    // MARK: Text

    subscript(number: Int) -> SimulationTask { tasks[number] }

    func label(_ number: Int?) -> String { number.map { "\(self[$0])" } ?? "an actor" }
}
#endif
