#if os(Linux)
import CTaskControlTesting

/// The tasks of a simulation: their names, who made them, and which have not ended.
///
/// It retains each until it has ended, so that its state can be looked at. Numbers are given in the order of creation,
/// which the seed decides.
struct TaskLedger {
    struct Entry {
        let name: String?
        let creator: Int?
        var isTimer = false
        /// The type of the executor of somebody else that it has gone to. Another thread may be running it.
        fileprivate(set) var foreignExecutor: String?
        /// `nil`: it has ended, or nobody may look at it, since its memory is its parent's (`async let`).
        fileprivate(set) var task: UnsafeMutableRawPointer?
    }

    private(set) var entries: [Entry] = []
    private var numbers: [UInt64: Int] = [:]
    /// May hold some that have ended.
    private(set) var unended: [Int] = []
    private var runsSinceSweep = 0

    mutating func created(_ task: UnsafeMutableRawPointer, name: String?) {
        // It has been enqueued already, and so has its number.
        let number = number(of: task)
        tc_retain(task)
        unended.append(number)
        let creator = tc_currentTask().flatMap { numbers[tc_taskID($0)] }
        entries[number] = Entry(name: name, creator: creator, task: task)
    }

    func knows(_ task: UnsafeMutableRawPointer) -> Bool {
        numbers[tc_taskID(task)] != nil
    }

    /// The number of a task. One that was never seen was made by the runtime itself, for an `async let` or a sleep.
    mutating func number(of task: UnsafeMutableRawPointer, isTimer: Bool = false) -> Int {
        let id = tc_taskID(task)
        if let number = numbers[id] { return number }
        numbers[id] = entries.count
        entries.append(Entry(name: isTimer ? "a timer" : "async let", creator: nil, isTimer: isTimer, task: nil))
        return entries.count - 1
    }

    /// Whether it is what ends a sleep.
    func isTimer(_ number: Int) -> Bool { entries[number].isTimer }

    mutating func went(_ number: Int, to foreignExecutor: String) {
        entries[number].foreignExecutor = foreignExecutor
    }

    /// What a task is up to.
    struct State {
        let kind: TCTaskState
        /// The number of the task that it waits for.
        var task: Int?
        /// The type of the actor that it waits for.
        var actor: String?
    }

    /// `nil`: nobody may look.
    func state(of number: Int) -> State? {
        guard let task = entries[number].task, entries[number].foreignExecutor == nil else { return nil }
        var on: UnsafeMutableRawPointer?
        let kind = tc_taskState(task, &on)
        switch kind {
        case TCTaskAwaitsTask: return State(kind: kind, task: on.flatMap { numbers[tc_taskID($0)] })
        case TCTaskAwaitsExecutor:
            // What has an executor to go to, and no actor to wait for, could run.
            guard let on else { return State(kind: TCTaskReady) }
            let actor = Unmanaged<AnyObject>.fromOpaque(on).takeUnretainedValue()
            return State(kind: kind, actor: "\(type(of: actor))")
        default: return State(kind: kind)
        }
    }

    /// A step has come to its end.
    ///
    /// - Parameter number: The task that ran; `nil`: it was an actor's turn, and any may have run.
    /// - Returns: What is to be released, once nobody is in here: it may end objects that make tasks.
    mutating func hasRun(_ number: Int?) -> [UnsafeMutableRawPointer] {
        if let number { return takeIfEnded(number).map { [$0] } ?? [] }
        runsSinceSweep += 1
        return runsSinceSweep > unended.count ? sweep() : []
    }

    /// Looks at all that have not been seen to end.
    ///
    /// - Returns: What is to be released, once nobody is in here.
    /// - Complexity: O(*n*) in their number.
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

    /// Forgets all, ended or not.
    ///
    /// - Returns: What is to be released, once nobody is in here.
    mutating func close() -> [UnsafeMutableRawPointer] {
        defer { unended = [] }
        return unended.compactMap { number in
            defer { entries[number].task = nil }
            return entries[number].task
        }
    }

    func label(_ number: Int?) -> String {
        guard let number else { return "an actor" }
        return "#\(number)" + (entries[number].name.map { " \($0)" } ?? "")
    }
}
#endif
