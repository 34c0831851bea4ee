/// The jobs that can run, the jobs that sleep, and the order in which they run. Pure: it knows no task, thread or clock.
///
///     enqueue ──▶ (behind an earlier arrival) ──▶ ready ──next──▶ (returned, to be run)
///     enqueue(at:) ──▶ sleeping ──(nothing is ready, or the schedule is slow)──▶ ready
///
/// Wherever a program can continue in several ways, this machine asks its ``ScheduleChooser``. The answers are the schedule:
/// equal answers produce equal schedules. Time moves when nothing is ready, to the earliest deadline, and when a job blocks
/// its thread; if the strategy has slowness, also when jobs are ready.
///
/// It is not generic over its jobs: generic code costs several times as much in a debug build, which most tests are.
struct ScheduleStateMachine {
    /// The number by which the owner of the machine knows a job.
    typealias Job = Int
    /// A time in nanoseconds.
    typealias Time = Int64

    /// The arrival of a job at an actor, which runs jobs in the order of their arrivals.
    struct Arrival: Equatable {
        /// Identifies the actor.
        let actor: UInt
        /// Whether the sender continues after it has enqueued the job, as the creator of a task does: all later arrivals are behind the job. A
        /// task that hops to an actor does nothing after the hop, so that its arrival may be delayed by any number of steps.
        let isFixed: Bool
        /// The priority of the job: a job of a higher priority overtakes.
        let priority: UInt8
    }

    struct Item {
        let job: Job
        /// The number of the task that the job is part of; `nil` if it is part of none.
        let task: Int?
        let arrival: Arrival?
        /// Whether the task gave up its turn with `Task.yield()`.
        let hasYielded: Bool
        /// Increases from item to item, in the order in which they became ready.
        fileprivate(set) var number = 0
        /// The number of steps before it became ready.
        fileprivate(set) var readySince = 0
    }

    private struct Sleeper {
        let deadline: Time
        let item: Item
    }

    /// A ready job with a fixed arrival, and the jobs of the same actor that are behind it.
    private struct Line {
        var head: Int
        var priority: UInt8
        var waiting: [Item] = []
    }

    private(set) var now: Time
    /// The number of jobs that have been returned.
    private(set) var steps = 0
    /// A fingerprint of all answers and moments. Equal schedules have equal fingerprints.
    private(set) var trace: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var chooser: ScheduleChooser
    private var ready = ScheduleReadyList()
    /// The sleeping jobs, by decreasing deadline.
    private var sleepers: [Sleeper] = []
    private var lines: [UInt: Line] = [:]
    private var itemCount = 0
    /// The task that ran last, and the number of the first item that became ready since it began to run.
    private var last: (task: Int?, firstItem: Int) = (nil, 0)

    init(chooser: ScheduleChooser, now: Time) {
        self.chooser = chooser
        self.now = now
    }

    var isIdle: Bool { ready.isEmpty && sleepers.isEmpty }

    /// Whether nothing is ready, and something sleeps.
    var isAboutToMoveTime: Bool { ready.isEmpty && !sleepers.isEmpty }

    // MARK: Jobs

    /// Adds a job that can run, or that is behind an earlier arrival at its actor.
    ///
    /// - Complexity: O(1), amortized; O(log *n*) in the number of ready jobs for a strategy that ranks.
    mutating func enqueue(_ job: Job, of task: Int?, on arrival: Arrival? = nil, hasYielded: Bool = false) {
        let item = Item(job: job, task: task, arrival: arrival, hasYielded: hasYielded)
        guard let arrival else { return makeReady(item) }
        if let line = lines[arrival.actor], arrival.priority <= line.priority {
            lines[arrival.actor]!.waiting.append(item)
        } else {
            makeReady(item)
            if arrival.isFixed, lines[arrival.actor] == nil {
                lines[arrival.actor] = Line(head: itemCount, priority: arrival.priority)
            }
        }
    }

    /// Adds a job that sleeps until a deadline.
    ///
    /// - Complexity: O(*n*) in the number of sleepers with an earlier deadline.
    mutating func enqueue(_ job: Job, of task: Int?, at deadline: Time) {
        // Inserted before the sleepers of the same deadline: they wake first, since they are nearer to the end.
        var (low, high) = (0, sleepers.count)
        while low < high {
            let middle = (low + high) / 2
            if sleepers[middle].deadline > deadline { low = middle + 1 } else { high = middle }
        }
        let item = Item(job: job, task: task, arrival: nil, hasYielded: false)
        sleepers.insert(Sleeper(deadline: deadline, item: item), at: low)
    }

    private mutating func makeReady(_ item: Item) {
        var item = item
        itemCount += 1
        item.number = itemCount
        item.readySince = steps
        chooser.becameReady(itemCount, of: item.task)
        ready.append(item)
    }

    /// Makes the jobs behind a removed head of a line ready, up to the next fixed arrival.
    private mutating func moveUp(behind item: Item) {
        guard let arrival = item.arrival, let line = lines[arrival.actor], line.head == item.number else { return }
        let next = line.waiting.firstIndex { $0.arrival!.isFixed }
        let end = next.map { $0 + 1 } ?? line.waiting.endIndex
        for item in line.waiting[..<end] { makeReady(item) }
        lines[arrival.actor] = next.map { next in
            Line(
                head: itemCount,
                priority: line.waiting[next].arrival!.priority,
                waiting: Array(line.waiting[end...])
            )
        }
    }

    /// Removes and returns the job that was last made ready, if it is the wanted one and the schedule lets it start before its creator continues.
    mutating func takeEarly(where isWanted: (Item) -> Bool) -> Item? {
        guard chooser.asksForEarlyStarts, !ready.isEmpty, isWanted(ready[ready.count - 1]) else { return nil }
        guard answer(chooser.startsEarly()) == 1 else { return nil }
        chooser.removed(ready.number(at: ready.count - 1))
        return take(ready.count - 1)
    }

    // MARK: Choices

    /// Removes and returns the job that runs next; `nil` if nothing can run and nothing sleeps.
    ///
    /// - Complexity: O(log *n*) in the number of ready jobs, and one move of memory in O(*n*).
    mutating func next() -> Item? {
        if ready.isEmpty {
            guard !sleepers.isEmpty else { return nil }
            moveTime()
        } else if chooser.asksForSlowness, !sleepers.isEmpty, answer(chooser.isSlow()) == 1 {
            moveTime()
        }
        let item = take(pick())
        last = (item.task, itemCount + 1)
        return item
    }

    private mutating func take(_ index: Int) -> Item {
        let item = ready.remove(at: index)
        note(UInt64(index))
        note(UInt64(bitPattern: now))
        steps += 1
        moveUp(behind: item)
        return item
    }

    /// Moves time to the earliest deadline.
    private mutating func moveTime() {
        guard let earliest = sleepers.last else { return }
        now = max(now, earliest.deadline)
        wake()
    }

    /// Advances the time while a job runs, because it blocks its thread.
    ///
    /// - Parameter duration: The time to pass. The greatest representable time is never exceeded.
    mutating func advance(by duration: Time) {
        let (time, isLate) = now.addingReportingOverflow(max(0, duration))
        now = isLate ? .max : time
        note(UInt64(bitPattern: now))
        wake()
    }

    /// Makes all sleepers ready whose deadline has come.
    private mutating func wake() {
        while let sleeper = sleepers.last, sleeper.deadline <= now { makeReady(sleepers.removeLast().item) }
    }

    /// Asks for the job that runs next, and returns its index.
    ///
    /// Answers are numbered so that 0 is the plain schedule: the task that ran last continues if it can, otherwise the job
    /// runs that has been ready longest.
    private mutating func pick() -> Int {
        let first = first
        guard ready.count > 1 else {
            chooser.removed(ready.number(at: 0))
            return 0
        }
        let question = ScheduleChooser.Question(
            width: ready.count,
            isPreemption: first.isGoingOn,
            starving: first.isStarving ? (ready[0].number, ready[0].task) : nil
        )
        let index: Int
        switch chooser.pick(question) {
        case .answer(let answer):
            index = answer == 0 ? first.index : answer <= first.index ? answer - 1 : answer
        case .item(let number):
            index = ready.index(of: number)
        }
        let answer = index == first.index ? 0 : index < first.index ? index + 1 : index
        chooser.record(answer, question)
        note(UInt64(ready.count) << 32 | UInt64(answer))
        return index
    }

    /// The index that answer 0 stands for.
    private var first: (index: Int, isGoingOn: Bool, isStarving: Bool) {
        // No job waits forever, even if the program spins: the runtime has no such schedule.
        if steps - ready[0].readySince > 200 + 4 * ready.count { return (0, false, true) }
        guard let task = last.task else { return (0, false, false) }
        var index = ready.count - 1
        while index >= 0, ready.number(at: index) >= last.firstItem {
            let item = ready[index]
            if item.task == task, !item.hasYielded { return (index, true, false) }
            index -= 1
        }
        return (0, false, false)
    }

    /// Adds the answer to a question with two answers to the fingerprint.
    private mutating func answer(_ answer: Int) -> Int {
        note(UInt64(2) << 32 | UInt64(answer))
        return answer
    }

    // MARK: Actions

    /// Draws the step from which on an action of the program is due. The action runs between two steps.
    mutating func moment() -> Int { chooser.moment(after: steps) }

    /// Decides whether an action runs now.
    mutating func performsAction(due step: Int) -> Bool {
        answer(chooser.performsAction(isDue: step <= steps, isAboutToMoveTime: isAboutToMoveTime)) == 1
    }

    // MARK: Fingerprint

    /// Adds an event of the schedule to the fingerprint.
    mutating func note(_ value: UInt64) {
        trace = (trace ^ value) &* 0x100_0000_01B3
    }

    mutating func note(_ text: String) {
        for byte in text.utf8 { note(UInt64(byte)) }
    }
}
