#if os(Linux) || canImport(Darwin)
import CTaskControlTesting

/// The tasks of a simulation: their names, their creators, and whether they have ended.
///
/// The ledger retains each task until the task has ended, so that the task's state can be read. Tasks are numbered in
/// the order of their creation, which the schedule decides.
struct TaskLedger: ~Copyable {
    /// Whether the states of tasks can be read. If not, the ledger retains no task, and does not notice that tasks end.
    let readsStates: Bool
    /// Whether the simulation notices the creation of tasks, except tasks that the runtime itself creates. If not, a
    /// task is added when it is first enqueued.
    private let seesCreation: Bool

    /// The retained tasks, indexed by their numbers. `nil` for a task that is not retained: it has ended, its memory
    /// belongs to its parent (`async let`), or the states of tasks cannot be read.
    private var handles = FlatArray<UnsafeMutableRawPointer?>()
    private let tasks: SimulatedTasks
    private let log: ScheduleLog
    private var numbers = TaskNumbers()
    /// The numbers of the actors for which tasks wait, indexed by the numbers of the tasks; -1 for
    /// none. Contains no entries after that of the last task that has waited for an actor, and is therefore empty in most programs.
    private var destinations = FlatArray<Int>()
    /// The types of the executors outside the simulation to which tasks have moved, indexed by the numbers of the tasks. Another thread may
    /// be running such a task.
    private var foreignExecutors = FlatArray<TypeID?>()
    /// The numbers of the tasks that have not ended. May also contain tasks that have ended since the last ``sweep()``.
    private(set) var unended = FlatArray<Int>()
    private var runsSinceSweep = 0

    /// The simulated processes to which the tasks belong, indexed by the numbers of the tasks; 0 for none. Contains no entries after that
    /// of the last task of a process.
    private var processes = FlatArray<Int>()
    /// Whether each process has crashed, indexed by its number.
    private var hasCrashed = FlatArray<Bool>()
    /// The process of the tasks that are being created; `nil` for that of their creator.
    var joinedProcess: Int?
    /// Whether a process has crashed.
    private(set) var hasLost = false
    /// The tasks of processes that have crashed, which make no further step.
    private(set) var lost = FlatArray<Int>()

    /// The runtime's ID of the first task of the simulation, which runs the simulated body; `nil` before it is added.
    private var firstID: UInt64?

    /// Creates an empty ledger.
    ///
    /// - Parameters:
    ///   - capabilities: The capabilities of the simulation, on which the ledger relies.
    ///   - log: The log to which the ledger adds the tasks, and the actors for which they wait.
    init(_ capabilities: SimulationCapabilities, log: ScheduleLog) {
        self.log = log
        tasks = log.tasks
        seesCreation = capabilities.includes(.createdTasks)
        readsStates = seesCreation && capabilities.includes(.taskStates)
    }

    /// Adds a task that is being created, and returns its number.
    mutating func created(_ task: UnsafeMutableRawPointer, name: String?) -> Int {
        // The task has been enqueued already, and therefore has a number.
        let number = number(of: task)
        if readsStates {
            tc_retain(task)
            if isLost(number) { lost.append(number) } else { unended.append(number) }
        }
        tasks.set(number, name: name, creator: current)
        handles[number] = readsStates ? task : nil
        return number
    }

    func knows(_ task: UnsafeMutableRawPointer) -> Bool {
        numbers[tc_taskID(task)] != nil
    }

    /// Returns the number of a task. Adds the task if it is unknown: it is being created, or the runtime itself has
    /// created it for an `async let` or a sleep.
    ///
    /// - Parameter isTimer: Whether an unknown task is a timer that the runtime has created to end a sleep.
    mutating func number(of task: UnsafeMutableRawPointer, isTimer: Bool = false) -> Int {
        let id = tc_taskID(task)
        if let number = numbers[id] { return number }
        let number = handles.count
        tasks.append(name(ofUnseen: id, isTimer), creator: current)
        handles.append(nil)
        numbers.insert(number, for: id)
        if hasCrashed.count > 0 { join(number) }
        return number
    }

    // MARK: Processes

    /// Begins a simulated process. Its tasks are those that are created while ``joinedProcess`` is its number, and those that its tasks create,
    /// except detached ones.
    ///
    /// - Returns: The number of the process, which is not 0; `nil` if the simulation does not notice that tasks are created.
    mutating func beginProcess() -> Int? {
        guard readsStates else { return nil }
        if hasCrashed.count == 0 { hasCrashed.append(false) }
        hasCrashed.append(false)
        return hasCrashed.count - 1
    }

    private mutating func join(_ number: Int) {
        if tc_isDetaching() { return }
        let process = joinedProcess ?? current.map { self.process(of: $0) } ?? 0
        if process == 0 { return }
        while processes.count <= number { processes.append(0) }
        processes[number] = process
    }

    /// The process to which a task belongs; 0 for none.
    func process(of number: Int) -> Int { number < processes.count ? processes[number] : 0 }

    /// Ends a process: its tasks are lost.
    ///
    /// - Complexity: O(*n*) in the number of unended tasks.
    mutating func crash(_ process: Int) {
        hasCrashed[process] = true
        hasLost = true
        var rest = FlatArray<Int>()
        for index in 0..<unended.count {
            let number = unended[index]
            if isLost(number) { lost.append(number) } else { rest.append(number) }
        }
        unended = rest
    }

    /// Whether the task with the given number belongs to a process that has crashed.
    func isLost(_ number: Int) -> Bool { hasLost && number < processes.count && hasCrashed[processes[number]] }

    private mutating func name(ofUnseen id: UInt64, _ isTimer: Bool) -> SimulatedTasks.UnseenName? {
        if firstID == nil {
            firstID = id
            return .body
        }
        if isTimer { return .timer }
        return seesCreation ? .asyncLet : nil
    }

    /// Returns whether a task was possibly created in the simulation without being noticed, because it was created
    /// after the body's task. Always `false` if the simulation notices the creation of tasks.
    func mayDiscover(_ task: UnsafeMutableRawPointer) -> Bool {
        guard !seesCreation, let firstID else { return false }
        return tc_taskID(task) > firstID
    }

    /// The number of the running task; `nil` if no task of the simulation is running.
    var current: Int? {
        guard let task = tc_currentTask() else { return nil }
        return numbers[tc_taskID(task)]
    }

    /// Returns whether the task with the given number is a timer, which the runtime has created to end a sleep.
    func isTimer(_ number: Int) -> Bool { tasks.isTimer(number) }

    mutating func waits(_ number: Int, for actor: Int?) {
        if number >= destinations.count {
            if actor == nil { return }
            while number >= destinations.count { destinations.append(-1) }
        }
        destinations[number] = actor ?? -1
    }

    mutating func went(_ number: Int, to foreignExecutor: TypeID) {
        while number >= foreignExecutors.count { foreignExecutors.append(nil) }
        foreignExecutors[number] = foreignExecutor
    }

    // MARK: States

    /// Returns the state of the task with the given number; `nil` if the state cannot be read.
    func state(of number: Int) -> ScheduleLog.State? {
        if number < foreignExecutors.count, let type = foreignExecutors[number] { return .outside(executor: type) }
        if number < destinations.count, destinations[number] >= 0 { return .awaitingActor(destinations[number]) }
        guard let task = handles[number] else { return nil }
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
            return .awaitingActor(log.number(ofActor: on))
        default: return .ready
        }
    }

    /// Notes that the task with the given number has run.
    ///
    /// - Returns: The task if it has ended; otherwise `nil`. The caller must release the task after this call:
    ///   releasing it may deallocate objects that create tasks.
    mutating func hasRun(_ number: Int) -> UnsafeMutableRawPointer? { takeIfEnded(number) }

    /// Notes that an actor has run its queue, and with it possibly any task.
    ///
    /// - Returns: Whether the caller should call ``sweep()`` now.
    mutating func actorHasRun() -> Bool {
        runsSinceSweep += 1
        return runsSinceSweep > unended.count
    }

    /// Finds and removes all tasks that have ended.
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
            if handles[number] != nil { unended.append(number) }
        }
        self.unended = unended
        return ended
    }

    private mutating func takeIfEnded(_ number: Int) -> UnsafeMutableRawPointer? {
        guard let task = handles[number], tc_hasEnded(task) else { return nil }
        handles[number] = nil
        return task
    }

    /// Removes all tasks, whether or not they have ended.
    ///
    /// - Returns: The tasks that the caller must release after this call.
    mutating func close() -> FlatArray<UnsafeMutableRawPointer> {
        var open = FlatArray<UnsafeMutableRawPointer>()
        for index in 0..<unended.count {
            let number = unended[index]
            if let task = handles[number] { open.append(task) }
            handles[number] = nil
        }
        for index in 0..<lost.count {
            let number = lost[index]
            if let task = handles[number] { open.append(task) }
            handles[number] = nil
        }
        unended = FlatArray()
        if hasLost {
            // The lost tasks may retain the simulation, and with it this ledger.
            handles = FlatArray()
            destinations = FlatArray()
            foreignExecutors = FlatArray()
            numbers = TaskNumbers()
        }
        return open
    }

    // MARK: Text

    subscript(number: Int) -> SimulationTask { tasks[number] }

    func label(_ number: Int?) -> String { number.map { "\(self[$0])" } ?? "an actor" }
}

extension ScheduleLog {
    /// Returns the number of an actor, which is added to the log when it is first seen.
    func number(ofActor actor: UnsafeMutableRawPointer) -> Int {
        let number = Int(tc_actor(actor))
        if isNew(number) { add(TypeID(Swift.type(of: Unmanaged<AnyObject>.fromOpaque(actor).takeUnretainedValue()))) }
        return number
    }
}
#endif
