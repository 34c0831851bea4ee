#if os(Linux) || canImport(Darwin)
import CTaskControlTesting

/// The tasks of a simulation: their names, their creators, and which have not ended.
///
/// The ledger retains each task until the task has ended, so that its state can be read. Tasks are numbered in the order of their creation,
/// which the schedule decides.
struct TaskLedger {
    private struct Entry {
        let name: String?
        let creator: Int?
        var isTimer = false
        /// The type of the actor that the task waits for.
        var destination: (any Any.Type)?
        /// The type of the executor outside the simulation that the task has gone to. Another thread may be running the task.
        var foreignExecutor: String?
        /// The task; `nil` if it has ended, or if its memory belongs to its parent (`async let`), so that its state must not be read.
        var task: UnsafeMutableRawPointer?
    }

    /// Whether the states of tasks can be read. If not, no task is retained, and none is ever seen to end.
    let readsStates: Bool
    /// Whether all creations are seen, except by the runtime itself. If not, a task is discovered when it is enqueued first.
    private let seesCreation: Bool

    private var entries: [Entry] = []
    private var numbers: [UInt64: Int] = [:]
    /// The tasks that have not ended. It may contain tasks that have ended since the last sweep.
    private(set) var unended: [Int] = []
    private var runsSinceSweep = 0

    /// The ID of the body.
    private var firstID: UInt64?

    init(_ capabilities: SimulationCapabilities) {
        seesCreation = capabilities.contains(.createdTasks)
        readsStates = seesCreation && capabilities.contains(.taskStates)
    }

    mutating func created(_ task: UnsafeMutableRawPointer, name: String?) {
        // The task has been enqueued already, and therefore has a number.
        let number = number(of: task)
        if readsStates {
            tc_retain(task)
            unended.append(number)
        }
        let creator = tc_currentTask().flatMap { numbers[tc_taskID($0)] }
        entries[number] = Entry(
            name: name,
            creator: creator,
            destination: entries[number].destination,
            task: readsStates ? task : nil
        )
    }

    func knows(_ task: UnsafeMutableRawPointer) -> Bool {
        numbers[tc_taskID(task)] != nil
    }

    /// Returns the number of a task. An unknown task was created by the runtime itself, for an `async let` or a sleep, and receives a number.
    mutating func number(of task: UnsafeMutableRawPointer, isTimer: Bool = false) -> Int {
        let id = tc_taskID(task)
        if let number = numbers[id] { return number }
        let creator = tc_currentTask().flatMap { numbers[tc_taskID($0)] }
        numbers[id] = entries.count
        entries.append(Entry(name: name(ofUnseen: id, isTimer), creator: creator, isTimer: isTimer, task: nil))
        return entries.count - 1
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
    var current: Int? { tc_currentTask().flatMap { numbers[tc_taskID($0)] } }

    /// Whether a task is a timer, which ends a sleep.
    func isTimer(_ number: Int) -> Bool { entries[number].isTimer }

    mutating func waits(_ number: Int, for actor: (any Any.Type)?) {
        entries[number].destination = actor
    }

    mutating func went(_ number: Int, to foreignExecutor: String) {
        entries[number].foreignExecutor = foreignExecutor
    }

    // MARK: States

    /// Returns the state of a task; `nil` if the state must not be read.
    func state(of number: Int) -> ScheduleLog.State? {
        if let executor = entries[number].foreignExecutor { return .outside(executor: executor) }
        if let actor = entries[number].destination { return .awaitingActor(actor) }
        guard let task = entries[number].task else { return nil }
        var on: UnsafeMutableRawPointer?
        switch tc_taskState(task, &on) {
        case TCTaskFinished: return .ended
        case TCTaskAwaitsTask: return .awaitingTask(on.flatMap { numbers[tc_taskID($0)] })
        case TCTaskAwaitsContinuation: return .awaitingContinuation
        case TCTaskAwaitsGroup: return .awaitingChildTasks
        case TCTaskAwaitsExecutor:
            // A task that waits for an executor, and for no actor, could run.
            guard let on else { return .ready }
            return .awaitingActor(type(of: Unmanaged<AnyObject>.fromOpaque(on).takeUnretainedValue()))
        default: return .ready
        }
    }

    /// Finds tasks that have ended in a step.
    ///
    /// - Parameter number: The task that ran; `nil` if an actor had its turn, in which any task may have run.
    /// - Returns: The tasks that the caller must release after this call: the release may deallocate objects that create tasks.
    mutating func hasRun(_ number: Int?) -> [UnsafeMutableRawPointer] {
        if let number { return takeIfEnded(number).map { [$0] } ?? [] }
        runsSinceSweep += 1
        return runsSinceSweep > unended.count ? sweep() : []
    }

    /// Finds all tasks that have ended.
    ///
    /// - Returns: The tasks that the caller must release after this call.
    /// - Complexity: O(*n*) in the number of unended tasks.
    mutating func sweep() -> [UnsafeMutableRawPointer] {
        runsSinceSweep = 0
        let ended = unended.compactMap { takeIfEnded($0) }
        unended.removeAll { entries[$0].task == nil }
        return ended
    }

    private mutating func takeIfEnded(_ number: Int) -> UnsafeMutableRawPointer? {
        guard let task = entries[number].task, tc_hasEnded(task) else { return nil }
        entries[number].task = nil
        numbers[tc_taskID(task)] = nil
        return task
    }

    /// Removes all tasks, whether or not they have ended.
    ///
    /// - Returns: The tasks that the caller must release after this call.
    mutating func close() -> [UnsafeMutableRawPointer] {
        defer { unended = [] }
        return unended.compactMap { number in
            defer { entries[number].task = nil }
            return entries[number].task
        }
    }

    // MARK: Text

    var tasks: [SimulationTask] { entries.indices.map { self[$0] } }

    subscript(number: Int) -> SimulationTask {
        SimulationTask(number: number, name: entries[number].name, creator: entries[number].creator)
    }

    func label(_ number: Int?) -> String { number.map { "\(self[$0])" } ?? "an actor" }
}
#endif
