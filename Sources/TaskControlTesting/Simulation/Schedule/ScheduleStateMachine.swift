/// The schedule of one run of a simulation: the jobs that can run (are *ready*), the jobs that sleep, and the choice of
/// the job that runs next. A pure state machine.
///
///     enqueue ──▶ (behind an earlier arrival) ──▶ ready ──next──▶ (returned, to be run)
///     enqueue(at:) ──▶ sleeping ──(nothing is ready, or the schedule is slow)──▶ ready
///
/// Wherever a program can continue in several ways, this machine asks its ``ScheduleChooser``. Its answers define the
/// schedule: equal answers produce equal schedules. Virtual time moves to the earliest deadline when no job is ready,
/// moves when a job blocks its thread, passes while tasks only go round and round (see ``ScheduleRounds``), and, with
/// ``Simulation/Strategy/withSlowness()``, can also move when jobs are ready.
///
/// The type is not generic over its jobs: generic code takes several times as long in a debug build, and most tests are debug builds. For the
/// same reason, its arrays are ``FlatArray``s, and it cannot be copied.
struct ScheduleStateMachine: ~Copyable {
    /// The number with which the caller of the machine identifies a job.
    typealias Job = Int
    /// A virtual time in nanoseconds.
    typealias Time = Int64

    /// The arrival of a job at an actor: see ``ScheduleArrivals``.
    struct Arrival: Equatable {
        /// The address of the actor; zero for the main actor.
        let actor: UInt
        /// Whether the code that enqueued the job continues afterwards, as the creator of a task does. `false` for a
        /// task that hops to the actor.
        let isFixed: Bool
        /// The priority of the job. Zero for all jobs of the main actor, which keeps the order of arrivals.
        let priority: UInt8
        /// Whether the code that enqueued the job runs on the same actor. If so, no job of a lower priority can run on
        /// the actor before this job.
        var overtakes = false
    }

    /// A job with the data that the schedule needs, in 32 bytes: there may be as many items as tasks.
    struct Item {
        let job: Job
        let arrival: Arrival?
        /// Whether the task gave up its turn with `Task.yield()`.
        let hasYielded: Bool
        private let compactTask: CompactNumber
        private var compactPlace: UInt32 = 0
        private var compactReadySince: UInt32 = 0

        @_transparent init(job: Job, task: Int?, arrival: Arrival?, hasYielded: Bool) {
            self.job = job
            self.arrival = arrival
            self.hasYielded = hasYielded
            compactTask = CompactNumber(task)
        }

        /// The number of the task that the job belongs to; `nil` if it belongs to no task.
        var task: Int? { @_transparent get { compactTask.value } }

        /// The place of the job in the order in which jobs arrive at actors: a job that arrives later has a greater
        /// place. Zero for a job that is enqueued on no actor.
        var place: Int {
            @_transparent get { Int(compactPlace) }
            @_transparent set { compactPlace = UInt32(truncatingIfNeeded: newValue) }
        }

        /// The number of steps that had begun when the job became ready.
        fileprivate(set) var readySince: Int {
            @_transparent get { Int(compactReadySince) }
            @_transparent set { compactReadySince = UInt32(truncatingIfNeeded: newValue) }
        }

        @_transparent func isPart(of task: Int) -> Bool { compactTask.isEqual(to: task) }
    }

    // Not private: tests that release a machine refer to it, and an optimized build would not link.
    struct Sleeper {
        let deadline: Time
        let item: Item
    }

    private(set) var now: Time
    /// The number of jobs that have been returned to run: the number of steps.
    private(set) var steps = 0
    /// A hash of all answers and events of the schedule so far. Equal schedules have equal hashes.
    private(set) var trace: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var chooser: ScheduleChooser
    private var ready = ScheduleReadyList()
    /// The sleeping jobs, sorted by decreasing deadline.
    private var sleepers = FlatArray<Sleeper>()
    /// The arrivals at each actor whose jobs must run in a certain order, by the address of the actor.
    private var arrivals = Dictionary<UInt, ScheduleArrivals>()
    private var arrivalCount = 0
    /// The lowest priority of all jobs that have arrived at any actor.
    private var lowestPriority = UInt8.max
    /// The number of ready jobs whose tasks have not given up their turns with `Task.yield()`.
    private var eagerCount = 0
    /// The number of jobs that have become ready so far. This is also the number of the job that became ready last:
    /// jobs are numbered in this order.
    private var itemCount = 0
    /// The task that ran last (`nil` if the last job belonged to no task), and the number of the first job that becomes
    /// ready after the task began to run.
    private var last: (task: Int?, firstItem: Int) = (nil, 0)
    private var rounds = ScheduleRounds()

    init(chooser: consuming ScheduleChooser, now: Time) {
        self.chooser = chooser
        self.now = now
    }

    var isIdle: Bool { ready.isEmpty && sleepers.isEmpty }

    /// Whether no job is ready and a job sleeps.
    var isAboutToMoveTime: Bool { ready.isEmpty && !sleepers.isEmpty }

    /// The tasks of the jobs that sleep, and their deadlines, the latest first.
    var sleeps: [(task: Int, deadline: Time)] {
        (0..<sleepers.count).compactMap { index in
            sleepers[index].item.task.map { ($0, sleepers[index].deadline) }
        }
    }

    /// The number of actors whose jobs must run in a certain order. Their memory is released with the last of these jobs.
    var orderedActorCount: Int { arrivals.count }

    // MARK: Jobs

    /// Adds a job that can run now, or that must wait for an earlier arrival at its actor.
    ///
    /// - Parameters:
    ///   - job: The number with which the caller identifies the job.
    ///   - task: The number of the task that the job belongs to; `nil` if it belongs to no task.
    ///   - arrival: The arrival of the job at its actor; `nil` if the job is enqueued on no actor.
    ///   - hasYielded: Whether the task gave up its turn with `Task.yield()`.
    ///
    /// - Complexity: O(1), amortized; O(log *n*) in the number of ready jobs for a strategy that ranks jobs or tasks.
    mutating func enqueue(_ job: Job, of task: Int?, on arrival: Arrival? = nil, hasYielded: Bool = false) {
        rounds.enqueued(isOfRunningTask: task == last.task)
        var item = Item(job: job, task: task, arrival: arrival, hasYielded: hasYielded)
        guard let arrival else { return makeReady(item) }
        arrivalCount += 1
        item.place = arrivalCount
        lowestPriority = min(lowestPriority, arrival.priority)
        // Most actors have no order: nothing is recorded for them.
        if !arrival.isFixed, arrivals.isEmpty { return makeReady(item) }
        guard arrival.isFixed || arrivals[arrival.actor] != nil else { return makeReady(item) }
        let isReady = arrivals[arrival.actor, default: ScheduleArrivals()].arrive(item)
        if arrival.isFixed, arrival.overtakes, lowestPriority < arrival.priority { takeBack(below: arrival) }
        if isReady { makeReady(item) }
    }

    /// Adds a job that sleeps until a deadline.
    ///
    /// - Parameters:
    ///   - job: The number with which the caller identifies the job.
    ///   - task: The number of the task that the job belongs to; `nil` if it belongs to no task.
    ///   - deadline: The virtual time at which the job becomes ready.
    ///
    /// - Complexity: O(*n*) in the number of sleepers with an earlier deadline.
    mutating func enqueue(_ job: Job, of task: Int?, at deadline: Time) {
        rounds.enqueued(isOfRunningTask: false)
        // Inserted before the sleepers of the same deadline: those wake first, since sleepers are taken from the end of
        // the array.
        var (low, high) = (0, sleepers.count)
        while low < high {
            let middle = (low + high) / 2
            if sleepers[middle].deadline > deadline { low = middle + 1 } else { high = middle }
        }
        let item = Item(job: job, task: task, arrival: nil, hasYielded: false)
        sleepers.insert(Sleeper(deadline: deadline, item: item), at: low)
    }

    /// Removes the sleeping jobs of the tasks that satisfy a condition, so that no time passes for them.
    ///
    /// - Complexity: O(*n*) in the number of sleepers.
    mutating func removeSleepers(where isLost: (_ task: Int) -> Bool) {
        var rest = FlatArray<Sleeper>()
        for index in 0..<sleepers.count where !(sleepers[index].item.task.map(isLost) ?? false) {
            rest.append(sleepers[index])
        }
        sleepers = rest
    }

    private mutating func makeReady(_ item: Item) {
        var item = item
        itemCount += 1
        item.readySince = steps
        chooser.becameReady(itemCount, of: item.task)
        ready.append(item, number: itemCount)
        if !item.hasYielded { eagerCount += 1 }
    }

    /// Removes the ready jobs of an actor that have a lower priority than the given new arrival, which overtakes them.
    /// They become ready again after the job of that arrival has run.
    ///
    /// - Complexity: O(*n*) in the number of ready jobs.
    private mutating func takeBack(below arrival: Arrival) {
        for index in (0..<ready.count).reversed() {
            let item = ready[index]
            guard let other = item.arrival, other.actor == arrival.actor, other.priority < arrival.priority else {
                continue
            }
            chooser.tookBack(ready.number(at: index))
            remove(index)
            arrivals[arrival.actor]!.takeBack(item)
        }
    }

    /// Makes those jobs ready that had to wait for the given job, which runs now.
    private mutating func follow(_ item: Item) {
        guard let arrival = item.arrival, arrival.isFixed else { return }
        for item in arrivals[arrival.actor]!.run(item) { makeReady(item) }
        if arrivals[arrival.actor]!.isEmpty { arrivals[arrival.actor] = nil }
    }

    @discardableResult
    private mutating func remove(_ index: Int) -> Item {
        let item = ready.remove(at: index)
        if !item.hasYielded { eagerCount -= 1 }
        return item
    }

    /// Removes and returns the job that became ready last, if it satisfies the given condition and the schedule decides
    /// that it starts before its creator continues; otherwise returns `nil`. Always returns `nil` unless the strategy
    /// has early starts (see ``Simulation/Strategy/withEarlyStarts()``).
    mutating func takeEarly(where isWanted: (Item) -> Bool) -> Item? {
        guard chooser.asksForEarlyStarts, !ready.isEmpty, isWanted(ready[ready.count - 1]) else { return nil }
        guard answer(chooser.startsEarly()) == 1 else { return nil }
        return takeUnasked(ready.count - 1)
    }

    /// Removes and returns the first ready job that satisfies the given condition; `nil` if there is none. This is not
    /// a choice of the schedule: the ``ScheduleChooser`` is not asked.
    mutating func takeFirst(where isWanted: (Item) -> Bool) -> Item? {
        for index in 0..<ready.count where isWanted(ready[index]) { return takeUnasked(index) }
        return nil
    }

    private mutating func takeUnasked(_ index: Int) -> Item {
        chooser.removed(ready.number(at: index))
        return take(index)
    }

    // MARK: Choices

    /// Removes and returns the job that runs next; `nil` if no job can run and none sleeps.
    ///
    /// - Complexity: O(*n*) in the number of ready jobs, for one move of memory; all other work is O(log *n*).
    mutating func next() -> Item? {
        let round = rounds.stepHasEnded()
        if ready.isEmpty {
            guard !sleepers.isEmpty else { return nil }
            moveTime()
        } else if round > 0 {
            pass(round)
        } else if chooser.asksForSlowness, !sleepers.isEmpty, answer(chooser.isSlow()) == 1 {
            moveTime()
        }
        let item = take(pick())
        last = (item.task, itemCount + 1)
        return item
    }

    private mutating func take(_ index: Int) -> Item {
        let item = remove(index)
        note(UInt64(index))
        note(UInt64(bitPattern: now))
        steps += 1
        follow(item)
        return item
    }

    /// Moves virtual time to the earliest deadline, and makes the jobs ready that sleep until then. There must be a job
    /// that sleeps.
    private mutating func moveTime() {
        now = max(now, sleepers[sleepers.count - 1].deadline)
        wake()
    }

    /// Lets a duration pass, but not more than the time until the earliest deadline.
    private mutating func pass(_ duration: Time) {
        let end = sleepers.isEmpty ? Time.max : max(now, sleepers[sleepers.count - 1].deadline)
        now += min(duration, end - now)
        wake()
    }

    /// Advances virtual time while a job runs, because the job blocks its thread. Makes the jobs ready whose deadlines
    /// have passed.
    ///
    /// - Parameter duration: The duration in nanoseconds. The result is limited to the greatest representable time.
    mutating func advance(by duration: Time) {
        let (time, isLate) = now.addingReportingOverflow(max(0, duration))
        now = isLate ? .max : time
        note(UInt64(bitPattern: now))
        wake()
    }

    /// Makes all sleeping jobs ready whose deadlines have passed.
    private mutating func wake() {
        while !sleepers.isEmpty, sleepers[sleepers.count - 1].deadline <= now {
            rounds.enqueued(isOfRunningTask: false)
            makeReady(sleepers.removeLast().item)
        }
    }

    /// Asks the ``ScheduleChooser`` which ready job runs next, and returns the index of this job. There must be a ready
    /// job.
    ///
    /// Answer 0 is the choice of the plain schedule: the task that ran last continues if it can; otherwise the job runs
    /// that has been ready longest. The other answers stand for the other ready jobs.
    private mutating func pick() -> Int {
        guard ready.count > 1 else {
            chooser.removed(ready.number(at: 0))
            return 0
        }
        // A job that has been ready for too long runs next. Otherwise, a loop of another task could delay it forever,
        // which does not happen in the runtime.
        if steps - ready[0].readySince > 200 + 4 * ready.count {
            chooser.mustRun(ready.number(at: 0), of: ready[0].task)
            return 0
        }
        let (first, isGoingOn) = first
        let question = ScheduleChooser.Question(width: ready.count, isPreemption: isGoingOn)
        let index: Int
        switch chooser.pick(question) {
        case .answer(let answer): index = self.index(of: answer, first)
        case .item(let number): index = ready.index(of: number)
        }
        let answer = index == first ? 0 : index < first ? index + 1 : index
        chooser.record(answer, question, costs: chooser.recordsCosts ? costs(first, isGoingOn) : nil)
        note(UInt64(ready.count) << 32 | UInt64(answer))
        return index
    }

    /// Returns, for each possible answer to the question of `pick()`, whether it counts as a preemption.
    ///
    /// - Parameters:
    ///   - first: The index of the ready job that is chosen by answer 0.
    ///   - isGoingOn: Whether the job at `first` belongs to the task that ran last.
    private func costs(_ first: Int, _ isGoingOn: Bool) -> [Bool] {
        (0..<ready.count).map { answer in
            let hasYielded = ready[index(of: answer, first)].hasYielded
            return (isGoingOn && answer != 0) || (hasYielded && eagerCount > 0)
        }
    }

    /// Returns the index of the ready job that an answer to the question of `pick()` chooses. Answer 0 chooses the job
    /// at index `first`; the other answers choose the other jobs, by increasing index.
    private func index(of answer: Int, _ first: Int) -> Int {
        answer == 0 ? first : answer <= first ? answer - 1 : answer
    }

    /// The index of the ready job that the plain schedule chooses (answer 0 to the question of `pick()`), and whether
    /// this job belongs to the task that ran last.
    private var first: (index: Int, isGoingOn: Bool) {
        if let task = last.task {
            var index = ready.count - 1
            while index >= 0, ready.number(at: index) >= last.firstItem {
                if ready.isEager(index, of: task) { return (index, true) }
                index -= 1
            }
        }
        // Other tasks run before a task that has yielded.
        return (ready.firstEagerIndex ?? 0, false)
    }

    /// Adds the answer to a yes-or-no question (1 or 0) to the hash ``trace``, and returns the answer.
    private mutating func answer(_ answer: Int) -> Int {
        note(UInt64(2) << 32 | UInt64(answer))
        return answer
    }

    // MARK: Actions

    /// Draws the moment of a new action of the program (see ``Simulation/atAnyPoint(_:)``). Actions run between two steps.
    mutating func moment() -> ScheduleChooser.Moment { chooser.moment(after: steps) }

    /// Decides which action of the program (see ``Simulation/atAnyPoint(_:)``) runs now.
    ///
    /// - Parameters:
    ///   - moments: The moments of the actions.
    ///   - mustAct: Whether an action must run, because no job can run.
    /// - Returns: The index of the action in `moments`; `nil` if no action runs.
    mutating func action(_ moments: [ScheduleChooser.Moment], mustAct: Bool = false) -> Int? {
        let index = chooser.action(moments, at: steps, isAboutToMoveTime: isAboutToMoveTime, mustAct: mustAct)
        note(UInt64(moments.count) << 32 | UInt64((index ?? -1) + 1))
        return index
    }

    // MARK: Fingerprint

    /// Adds a number that stands for an event of the schedule to the hash ``trace``.
    mutating func note(_ value: UInt64) {
        trace = (trace ^ value) &* 0x100_0000_01B3
    }

    mutating func note(_ text: String) {
        for byte in text.utf8 { note(UInt64(byte)) }
    }
}
