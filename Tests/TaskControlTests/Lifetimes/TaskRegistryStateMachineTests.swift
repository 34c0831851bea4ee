import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct TaskRegistryStateMachineTests {
    /// Every sequence of events with few tasks agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [
        (keys: ["a"] as [String?], tasks: 3, depth: fullSize(7, inDebug: 4), isWide: false),
        (keys: ["a"] as [String?], tasks: 3, depth: fullSize(5, inDebug: 3), isWide: true),
        (keys: ["a", "b"] as [String?], tasks: 3, depth: fullSize(5, inDebug: 3), isWide: false),
        (keys: [nil] as [String?], tasks: 3, depth: fullSize(12, inDebug: 6), isWide: false),
    ])
    func everyShortSequenceAgreesWithTheModel(keys: [String?], tasks: Int, depth: Int, isWide: Bool) {
        let steps = RegistryDriver().playEverySequence(upTo: depth) {
            $0.possibleEvents(keys: keys, maxTasks: tasks, isWide: isWide)
        }
        #expect(steps > 1_000)
    }

    /// The same with a limit, in which tasks of one key wait for those of another.
    @Test(arguments: [
        (keys: ["a"] as [String?], limit: 1, depth: fullSize(6, inDebug: 4), isWide: false),
        (keys: ["a", "b"] as [String?], limit: 1, depth: fullSize(5, inDebug: 3), isWide: false),
        (keys: ["a", "b"] as [String?], limit: 1, depth: fullSize(4, inDebug: 3), isWide: true),
        (keys: ["a"] as [String?], limit: 2, depth: fullSize(6, inDebug: 4), isWide: false),
    ])
    func everyShortSequenceWithALimitAgreesWithTheModel(keys: [String?], limit: Int, depth: Int, isWide: Bool) {
        let steps = RegistryDriver(limit: limit).playEverySequence(upTo: depth) {
            $0.possibleEvents(keys: keys, maxTasks: 3, isWide: isWide)
        }
        #expect(steps > 1_000)
    }

    @Test(arguments: Schedules.seeds(60, inDebug: 12))
    func longRandomSequencesWithALimitAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = RegistryDriver(limit: Int(seed % 3) + 1)
        for _ in 0..<300 {
            let events = driver.possibleEvents(
                keys: ["a", "b", "c"],
                maxTasks: 60,
                maxDrainers: 4,
                isWide: seed % 2 == 1
            )
            .filter { event in event != .close && (event != .cancelAll || random.next() % 8 == 0) }
            driver.play(events.randomElement(using: &random)!)
        }
    }

    /// The same with pauses, and with changes of the order of those that wait.
    @Test(arguments: [
        (limit: nil as Int?, isOrdered: false, depth: fullSize(5, inDebug: 3), isWide: false),
        (limit: 1 as Int?, isOrdered: false, depth: fullSize(5, inDebug: 3), isWide: false),
        (limit: 1 as Int?, isOrdered: true, depth: fullSize(5, inDebug: 3), isWide: false),
        (limit: 1 as Int?, isOrdered: true, depth: fullSize(4, inDebug: 3), isWide: true),
    ])
    func everyShortSequenceWithPausesAgreesWithTheModel(limit: Int?, isOrdered: Bool, depth: Int, isWide: Bool) {
        let steps = RegistryDriver(limit: limit, isOrdered: isOrdered).playEverySequence(upTo: depth) {
            $0.possibleEvents(keys: ["a", "b"], maxTasks: 3, isWide: isWide, moves: true)
        }
        #expect(steps > 1_000)
    }

    /// The same with a bound on the number of tasks that wait.
    @Test(arguments: [0, 1], [false, true])
    func everyShortSequenceWithABoundAgreesWithTheModel(count: Int, dropsOldest: Bool) {
        let driver = RegistryDriver(limit: 1, bound: .init(count: count, dropsOldest: dropsOldest))
        let steps = driver.playEverySequence(upTo: fullSize(5, inDebug: 3)) {
            $0.possibleEvents(keys: ["a", "b"], maxTasks: 4)
        }
        #expect(steps > 1_000)
    }

    @Test(arguments: Schedules.seeds(60, inDebug: 24))
    func longRandomSequencesWithPausesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bound = RegistryMachine.Bound(count: Int(seed % 5) + 2, dropsOldest: seed % 2 == 0)
        var driver = RegistryDriver(
            limit: seed % 4 == 0 ? nil : Int(seed % 4),
            isOrdered: seed % 3 > 0,
            bound: seed % 5 < 2 ? bound : nil
        )
        for _ in 0..<300 {
            let events = driver.possibleEvents(
                keys: ["a", "b", "c"],
                maxTasks: 60,
                maxDrainers: 4,
                isWide: seed % 2 == 1,
                moves: true
            )
            .filter { event in event != .close && (event != .cancelAll || random.next() % 8 == 0) }
            driver.play(events.randomElement(using: &random)!)
        }
    }

    /// Long programs with many tasks, which the search above does not reach.
    @Test(arguments: Schedules.seeds(40, inDebug: 8))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = RegistryDriver()
        for _ in 0..<300 {
            let events = driver.possibleEvents(
                keys: [nil, "a", "b"],
                maxTasks: 60,
                maxDrainers: 4,
                isWide: seed % 2 == 1
            )
            .filter { event in event != .close && (event != .cancelAll || random.next() % 8 == 0) }
            driver.play(events.randomElement(using: &random)!)
        }
    }

    @Test func aLateEventOfAFinishedTaskFindsNothing() {
        var machine = RegistryMachine()
        let old = machine.added("a")
        machine.finish(old)
        let new = machine.added("a")
        #expect(old.slot == new.slot)
        var effects = RegistryMachine.Effects()
        let released = machine.finish(old, &effects)
        machine.cancel(old, &effects)
        machine.attach(old, job: 1, &effects)
        let isEmpty = effects.isEmpty
        #expect(isEmpty && released == nil)
        #expect(machine.phase(of: new) == .starting)
    }

    /// The next task has the slot of the finished one.
    @Test func aFinishedTaskHasNeitherTheIdentityNorTheCauseOfTheNextTask() {
        var machine = RegistryMachine()
        let old = machine.added("a")
        machine.finish(old)
        let new = machine.added("a")
        machine.setSubject(TaskEvent.Identity(7), of: new)
        machine.setCause(.known(.deadline), of: new)
        #expect(old.slot == new.slot)
        #expect(machine.subject(of: new) == TaskEvent.Identity(7) && machine.cause(of: new)?.cause == .deadline)
        #expect(machine.subject(of: old) == nil && machine.cause(of: old) == nil)
    }

    @Test func aNewRegistryHasNoMemoryAllocated() {
        #expect(RegistryMachine().capacity == 0)
    }

    @Test func aKeyWithoutTasksNeitherRunsNorWaits() {
        let machine = RegistryMachine()
        #expect(!machine.isRunning(_ErasedKey("a")) && !machine.isWaiting(_ErasedKey("a")))
    }

    /// An interval without a length ends at once, without a timer, and the next task need not wait.
    @Test func anIntervalWithoutLengthEndsAtOnce() {
        var machine = RegistryMachine()
        for _ in 0..<2 {
            let id = machine.added("a", .throttle(for: .zero))
            var effects = RegistryMachine.Effects()
            machine.attach(id, job: 1, &effects)
            let start = machine.begin(id, isCancelled: false, &effects)
            let interval = effects.actions?.interval
            #expect(start == .run && interval == nil)
        }
        machine.checkInvariants()
    }

    /// The interval ends after the task has learned that it must wait, and before the task waits.
    @Test func aTaskThatIsAboutToWaitReplacesTheOneThatHasItsPermit() {
        var machine = RegistryMachine(limit: 1)
        let running = machine.added("a", .throttle(for: .seconds(1)))
        var effects = RegistryMachine.Effects()
        machine.attach(running, job: 1, &effects)
        _ = machine.begin(running, isCancelled: false, &effects)
        let interval = effects.actions!.interval!.id
        let next = machine.added("a", .throttle(for: .seconds(1)))
        machine.attach(next, job: 2, &effects)
        let answer = machine.begin(next, isCancelled: false, &effects)
        _ = machine.intervalEnded(interval, &effects)
        let waits = machine.park(next, 7)
        #expect(answer == .throttle(.seconds(1)) && !waits)
        var replacing = RegistryMachine.Effects()
        let start = machine.begin(next, isCancelled: false, &replacing)
        let cancelled = replacing.cancelling
        #expect(start == .wait && cancelled == [1] && machine.phase(of: running) == .cancelled)
        let waitsThen = machine.park(next, 8)
        #expect(waitsThen)
        machine.checkInvariants()
    }

    /// A task that was cancelled before it began will never run, so a new task of its key does not wait for it.
    @Test(arguments: [TaskStoreDuplicateKeyBehavior.wait, .keepLatest, .cancelPrevious(wait: true)], [false, true])
    func aTaskThatWasCancelledBeforeItBeganHoldsUpNone(behavior: TaskStoreDuplicateKeyBehavior, byHandle: Bool) {
        var machine = RegistryMachine()
        let old = machine.added("a")
        var effects = RegistryMachine.Effects()
        machine.attach(old, job: 1, &effects)
        if !byHandle { machine.cancel(old, &effects) }
        let new = machine.added("a", behavior) { _ in byHandle }
        #expect(machine.phase(of: new) == .starting && machine.phase(of: old) == .skipped)
        let oldStart = machine.begin(old, isCancelled: true, &effects)
        let newStart = machine.begin(new, isCancelled: false, &effects)
        #expect(oldStart == .skip && newStart == .run)
        machine.checkInvariants()
    }

    /// A task that is skipped because its own handle was cancelled comes before those that are replaced by a new one.
    @Test func aNewTaskCancelsTheOldestFirst() {
        var machine = RegistryMachine()
        var effects = RegistryMachine.Effects()
        for job in 0..<4 { machine.attach(machine.added("a"), job: Word(job), &effects) }
        _ = machine.add(key: _ErasedKey("a"), behavior: .keepLatest, isCancelled: { $0 == 0 }, &effects)
        let cancelling = effects.cancelling
        #expect(cancelling == [0, 1, 2, 3])
        machine.checkInvariants()
    }

    /// A debounced task that may start is replaced as long as it has not begun: here its actor is busy.
    @Test(arguments: [nil, 1], [TaskStoreDuplicateKeyBehavior.AfterQuietTime.cancelPrevious, .keepLatest])
    func aDebouncedTaskThatMayStartIsReplaced(limit: Int?, rule: TaskStoreDuplicateKeyBehavior.AfterQuietTime) {
        var machine = RegistryMachine(limit: limit)
        var effects = RegistryMachine.Effects()
        let running = machine.added(rule == .keepLatest ? "a" : "b")
        let behavior = TaskStoreDuplicateKeyBehavior.debounce(for: .seconds(1), then: rule)
        let older = machine.added("a", behavior)
        let begins = [running, older].map { machine.begin($0, isCancelled: false, &effects) }
        #expect(begins == [.run, .quiet(.seconds(1))])
        let start = machine.quietTimeEnded(older, isCancelled: false, &effects)
        #expect(start == (limit == nil && rule == .cancelPrevious ? .run : .wait))
        machine.finish(running)
        guard start == .wait else { return }
        #expect(machine.phase(of: older) == (rule == .keepLatest ? .starting : .admitted))
        let newer = machine.added("a", behavior)
        #expect(machine.phase(of: older) == .skipped && machine.phase(of: newer) == .quiet)
        let end = machine.begin(older, isCancelled: true, &effects)
        #expect(end == .skip)
        machine.checkInvariants()
    }

    /// A task of another key waits longer than the replacing task, and takes the permit that the replacing task cannot use yet.
    @Test func aTaskThatReplacesOneWithAPermitReceivesTheNextPermitOfItsKey() {
        var machine = RegistryMachine(limit: 2)
        var effects = RegistryMachine.Effects()
        let (running, replaced) = (machine.added("a"), machine.added("a", .runConcurrently))
        let replacing = machine.added("a", .debounce(for: .seconds(1), then: .keepLatest))
        let others = [machine.added("b"), machine.added("c")]
        let begins = [running, replacing].map { machine.begin($0, isCancelled: false, &effects) }
        #expect(begins == [.run, .quiet(.seconds(1))])
        let start = machine.quietTimeEnded(replacing, isCancelled: false, &effects)
        #expect(start == .wait && machine.phase(of: replaced) == .skipped)
        #expect(others.map { machine.phase(of: $0) } == [.starting, .queued])
        machine.finish(running)
        #expect(machine.phase(of: replacing) == .starting && machine.phase(of: others[1]) == .queued)
        machine.checkInvariants()
    }

    /// A task that replaces others looks at running tasks, and at cancelled tasks that still run, once.
    @Test(arguments: [nil, 1_000])
    func tasksThatContinueArePassedOnce(limit: Int?) throws {
        var machine = RegistryMachine(limit: limit)
        var effects = RegistryMachine.Effects()
        let ids = (0..<1_000).map { _ in machine.added("a", .runConcurrently) }
        for id in ids {
            let start = machine.begin(id, isCancelled: false, &effects)
            #expect(start == .run)
        }
        let lane = try #require(machine.lanes.slot(of: _ErasedKey("a")))
        for _ in 0..<3 { _ = machine.added("a", .keepLatest) }
        #expect(machine.lanes[lane].begunUpTo == ids[999].slot && machine.lanes[lane].cancelledUpTo == Chain.none)
        let debounced = machine.added("a", .debounce(for: .seconds(1)))
        _ = machine.begin(debounced, isCancelled: false, &effects)
        _ = machine.quietTimeEnded(debounced, isCancelled: false, &effects)
        #expect(machine.lanes[lane].cancelledUpTo == ids[999].slot)
        machine.finish(ids[999])
        #expect(machine.lanes[lane].cancelledUpTo == ids[998].slot && machine.lanes[lane].begunUpTo == ids[998].slot)
        machine.cancel(key: _ErasedKey("a"), &effects)
        machine.checkInvariants()
    }

    /// In quadratic time this exceeds the time limit of the suite.
    @Test func aKeyWithManyTasksThatContinueTakesManyTasksThatReplaceEachOther() {
        var machine = RegistryMachine()
        var effects = RegistryMachine.Effects()
        let count = fullSize(500_000, inDebug: 5_000)
        for _ in 0..<count {
            _ = machine.begin(machine.added("a", .runConcurrently), isCancelled: false, &effects)
        }
        for _ in 0..<count { machine.finish(machine.added("a", .keepLatest)) }
        #expect(machine.liveCount == count)
    }

    /// However many wait, each is raised once to each priority.
    @Test func aLaneIsRaisedOnceToEachPriority() {
        var machine = RegistryMachine()
        let ids = (0..<1_000).map { _ in machine.added("a") }
        var effects = RegistryMachine.Effects()
        for (number, id) in ids.enumerated() { machine.attach(id, job: Word(number), &effects) }
        var raised: [Int] = []
        for id in ids { raised += machine.raise(before: id, to: 9).map(\.number) }
        #expect(raised == [0], "whoever parks after its predecessor finds that raised")
        #expect(machine.raise(before: ids[999], to: 17).count == 999)
        #expect(machine.raise(before: ids[998], to: 17).isEmpty)
        machine.checkInvariants()
    }

    /// However many wait for a permit, each is raised once to each priority, and so are those that run.
    @Test func aLineIsRaisedOnceToEachPriority() {
        var machine = RegistryMachine(limit: 2)
        var effects = RegistryMachine.Effects()
        let ids = (0..<1_000).map { machine.added("\($0)") }
        for (number, id) in ids.enumerated() { machine.attach(id, job: Word(number), &effects) }
        #expect(ids.map { machine.phase(of: $0) == .queued } == [false, false] + Array(repeating: true, count: 998))
        var raised: [Int] = []
        for id in ids { raised += machine.raise(before: id, to: 9).map(\.number) }
        #expect(raised.sorted() == [0, 1], "a task that waits with that priority need not be raised to it")
        #expect(machine.raise(before: ids[999], to: 9).isEmpty)
        #expect(machine.raise(before: ids[500], to: 17).map(\.number).sorted() == Array(0..<500))
        #expect(machine.raise(before: ids[999], to: 17).map(\.number).sorted() == Array(501..<999))
        machine.checkInvariants()
    }

    /// However many tasks of one key wait behind those in line, each is raised once to each priority.
    @Test func aLaneBehindALimitIsRaisedOnceToEachPriority() {
        var machine = RegistryMachine(limit: 1)
        let ids = (0..<20_000).map { _ in machine.added("a") }
        var effects = RegistryMachine.Effects()
        for (number, id) in ids.enumerated() { machine.attach(id, job: Word(number), &effects) }
        var raised: [Int] = []
        for id in ids { raised += machine.raise(before: id, to: 9).map(\.number) }
        #expect(raised == [0])
        let other = machine.added("b")
        machine.attach(other, job: 20_000, &effects)
        #expect(machine.raise(before: other, to: 17) == [0])
        #expect(machine.raise(before: ids[19_999], to: 17).count == 19_998)
        #expect(machine.raise(before: ids[19_998], to: 17).isEmpty)
    }

    /// A task of another key has raised one task of a key: those before it are raised for a task that waits for them.
    @Test func aLaneIsRaisedAlsoIfATaskInItWasRaisedForAnotherKey() {
        var machine = RegistryMachine(limit: 1)
        let (running, queued) = (machine.added("a", .runConcurrently), machine.added("a", .runConcurrently))
        let (other, waiting) = (machine.added("b"), machine.added("a"))
        var effects = RegistryMachine.Effects()
        for (number, id) in [running, queued, other, waiting].enumerated() {
            machine.attach(id, job: Word(number), &effects)
        }
        let start = machine.begin(running, isCancelled: false, &effects)
        #expect(start == .run)
        machine.finish(running)
        #expect(machine.phase(of: queued) == .starting && machine.phase(of: other) == .queued)
        #expect(machine.raise(before: other, to: 9) == [1])
        let older = machine.added("a", .runConcurrently)
        machine.attach(older, job: 4, &effects)
        let last = machine.added("a")
        machine.attach(last, job: 5, &effects)
        #expect(Set(machine.raise(before: last, to: 9)) == [3, 4])
    }

    /// The order of the line is that in which keys let their tasks start.
    @Test func aTaskThatWaitsForItsKeyIsNotInLine() {
        var machine = RegistryMachine(limit: 1)
        var effects = RegistryMachine.Effects()
        let (first, second, other) = (machine.added("a"), machine.added("a"), machine.added("b"))
        #expect(machine.phase(of: second) == .waiting && machine.phase(of: other) == .queued)
        let start = machine.begin(first, isCancelled: false, &effects)
        #expect(start == .run)
        machine.finish(first)
        #expect(machine.phase(of: other) == .starting && machine.phase(of: second) == .queued)
        machine.checkInvariants()
    }

    @Test func aBurstBehindALimitLeavesNothingBehind() {
        var machine = RegistryMachine(limit: 3)
        let ids = (0..<10_000).map { machine.added("\($0)") }
        for (number, id) in ids.enumerated().dropFirst(3) {
            let isParked = machine.park(id, Word(number))
            #expect(isParked)
        }
        var woken = 0
        for id in ids.shuffled() {
            var effects = RegistryMachine.Effects()
            if machine.phase(of: id) == .queued { machine.leave(id, &effects) }
            let start = machine.begin(id, isCancelled: machine.phase(of: id) == .leaving, &effects)
            #expect(start == .run || start == .skip)
            _ = machine.finish(id, &effects)
            woken += effects.waking.count
        }
        #expect(woken == 9_997, "each that waited is woken once")
        #expect(
            machine.capacity <= 256 && machine.lanes.isEmpty && machine.limit?.available == 3
                && machine.limit?.places.isEmpty == true
        )
        machine.checkInvariants()
    }

    /// Those that wait come first, so that the last place of the tables is the survivor's.
    @Test func aBurstOfWaitingTasksWithOneSurvivorLeavesNothingBehind() {
        var machine = RegistryMachine()
        let ids = (0..<10_000).map { _ in machine.added("a") }
        for (number, id) in ids.enumerated().dropFirst() {
            let isParked = machine.park(id, Word(number))
            #expect(isParked)
        }
        for id in ids.dropFirst(2) {
            var effects = RegistryMachine.Effects()
            machine.leave(id, &effects)
            let waiters = effects.actions?.waking
            #expect(waiters?.count == 1)
            machine.finish(id)
        }
        #expect(machine.capacity <= 256)
    }

    /// Tasks that were cancelled and still run are not looked at again.
    @Test(arguments: [nil, "a"])
    func cancellingAllLooksAtTheTasksThatWereAddedSinceThen(key: String?) throws {
        var machine = RegistryMachine()
        func added() throws -> RegistryMachine.ID {
            var effects = RegistryMachine.Effects()
            let registration = machine.add(
                key: key.map { _ErasedKey($0) },
                behavior: .runConcurrently,
                isCancelled: { _ in false },
                &effects
            )
            guard case .added(let id) = registration else { throw CancellationError() }
            machine.attach(id, job: Word(Int(id.number)), &effects)
            return id
        }
        func cancelled() -> [Int] {
            var effects = RegistryMachine.Effects()
            machine.cancelAll(&effects)
            return effects.cancelling
        }
        var ids = try (0..<5_000).map { _ in try added() }
        #expect(cancelled().count == 5_000 && machine.addedSinceCancelAll == [])
        for _ in 0..<100 {
            let more = try [added(), added()]
            ids += more
            #expect(machine.addedSinceCancelAll.map(Array.init) == more)
            #expect(cancelled() == more.map { Int($0.number) })
        }
        // Tasks that have finished are forgotten, also if `cancelAll` is not called again.
        for _ in 0..<1_000 {
            machine.finish(try added())
            #expect(machine.addedSinceCancelAll.map { $0.count <= 33 } == true)
        }
        for id in ids { machine.finish(id) }
        #expect(machine.addedSinceCancelAll == nil && machine.entries.isEmpty)
    }

    @Test func aBurstLeavesNothingBehind() {
        var machine = RegistryMachine()
        let ids = (0..<10_000).map { machine.added("\($0)", $0 % 2 == 0 ? .wait : .debounce(for: .seconds(1))) }
        for id in ids { _ = machine.follow(id, 1) }
        for id in ids.shuffled() { machine.finish(id) }
        #expect(machine.capacity <= 256 && machine.lanes.isEmpty && machine.entries.extent == 0)
    }

    /// The identities of tasks in events are kept for live tasks only.
    @Test func aBurstOfNamedTasksLeavesNothingBehind() {
        var machine = RegistryMachine()
        var effects = RegistryMachine.Effects()
        let ids = (0..<10_000).compactMap { number -> RegistryMachine.ID? in
            let subject = TaskEvent.Identity(UInt64(number))
            guard case .added(let id) = machine.insert(nil, subject: subject, &effects) else { return nil }
            return id
        }
        #expect(machine.subject(of: ids[7]) == TaskEvent.Identity(7))
        machine.cancelAll(&effects)
        for id in ids { machine.setCause(.known(.deadline), of: id) }
        machine.setCause(.known(.unknown), of: ids[7])
        #expect(machine.cause(of: ids[7])?.cause == .deadline, "the first cause counts")
        machine.checkInvariants()
        for id in ids.shuffled() { machine.finish(id) }
        machine.setSubject(TaskEvent.Identity(1), of: ids[7])
        machine.setCause(.known(.deadline), of: ids[7])
        #expect(machine.sides.isEmpty && machine.subject(of: ids[7]) == nil && machine.cause(of: ids[7]) == nil)
        #expect(machine.capacity <= 256)
    }
}

extension RegistryMachine {
    fileprivate mutating func added(
        _ key: String,
        _ behavior: TaskStoreDuplicateKeyBehavior = .wait,
        isCancelled: (Word) -> Bool = { _ in false }
    ) -> ID {
        var effects = Effects()
        guard case .added(let id) = add(key: _ErasedKey(key), behavior: behavior, isCancelled: isCancelled, &effects)
        else {
            preconditionFailure("A new task is added.")
        }
        return id
    }

    fileprivate mutating func finish(_ id: ID) {
        var effects = Effects()
        _ = finish(id, &effects)
    }
}
