import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlSupervision

@Suite(.timeLimit(.minutes(60)), .tags(.machine))
struct SupervisionStateMachineTests {
    @Test(arguments: Supervisor.Strategy.allCases, [0, 2])
    func everyShortSequenceOfEventsKeepsTheRules(_ strategy: Supervisor.Strategy, _ grace: Int) {
        let driver = SupervisionDriver(strategy, children: 2, limit: 1, grace: grace)
        let steps = driver.playEverySequence(upTo: fullSize(11, inDebug: 5)) { $0.events }
        #expect(steps > 300)
    }

    /// The rules hold also if runs that ignore their cancellation are left behind.
    @Test(arguments: Supervisor.Strategy.allCases, [0, 2])
    func everyShortSequenceWithALimitAfterTheCancellationKeepsTheRules(
        _ strategy: Supervisor.Strategy,
        _ patience: Int
    ) {
        let driver = SupervisionDriver(strategy, children: 2, limit: 1, grace: 1, patience: patience)
        let steps = driver.playEverySequence(upTo: fullSize(11, inDebug: 5)) { $0.events }
        #expect(steps > 300)
    }

    @Test(arguments: Supervisor.Strategy.allCases, RestartRule.allCases)
    func longRandomSequencesKeepTheRulesAndEnd(_ strategy: Supervisor.Strategy, _ rule: RestartRule) {
        var random = SeededGenerator(seed: 7)
        for program in 0..<fullSize(20_000, inDebug: 150) {
            var driver = SupervisionDriver(
                strategy,
                children: 1 + program % 4,
                rule: rule,
                limit: program % 5,
                grace: program % 3,
                patience: program % 7 > 3 ? program % 3 : nil,
                most: 5
            )
            for _ in 0..<Int.random(in: 10...120, using: &random) {
                // Mostly the coordinator and the runs: a program that is closed soon shows little.
                let events = driver.events.filter {
                    switch $0 {
                    case .close, .stop, .cancel, .add: Int.random(in: 0..<40, using: &random) == 0
                    default: true
                    }
                }
                guard let event = events.randomElement(using: &random) else { break }
                driver.play(event)
            }
            if driver.end == nil { driver.finish() }
        }
    }

    private typealias Machine = SupervisionStateMachine

    private func machine(_ rules: Machine.Rules = .init(), _ limit: RestartLimit = .unlimited) -> Machine {
        var machine = Machine(.one, limit)
        expect(machine.add(rules).child, 0)
        expect(machine.begin(), true)
        return machine
    }

    /// Begins a run and reports that it is ready.
    private func run(_ machine: inout Machine, _ number: Int, at time: Duration) {
        expect(machine.next(at: time), .start(0, run: number))
        expect(machine.began(0, run: number).mayRun, true)
        _ = machine.ready(0, run: number)
        expect(machine.next(at: time), .announceReady(0))
        expect(machine.next(at: time), .wait(until: nil))
    }

    @Test func failuresCountInARowUntilARunIsStable() {
        var machine = machine()
        for (number, (length, failures)) in [(0, 1), (59, 2), (60, 1), (0, 2)].enumerated() {
            let time = Duration.seconds(number * 100)
            run(&machine, number + 1, at: time)
            _ = machine.ended(0, run: number + 1, .threw)
            let end = time + .seconds(length)
            expect(machine.next(at: end), .failed(0, failures: failures, mayRestart: true))
            expect(machine.restart(0, after: .zero, at: end), true)
        }
    }

    @Test func aRunThatIsNeverReadyIsNotStable() {
        var machine = machine()
        for number in 1...2 {
            expect(machine.next(at: .zero), .start(0, run: number))
            expect(machine.began(0, run: number).mayRun, true)
            _ = machine.ended(0, run: number, .threw)
            expect(machine.next(at: .seconds(1_000)), .failed(0, failures: number, mayRestart: true))
            expect(machine.restart(0, after: .zero, at: .zero), true)
        }
    }

    @Test func aReadyOfAnEarlierRunHasNoEffect() {
        var machine = machine()
        expect(machine.next(at: .zero), .start(0, run: 1))
        _ = machine.began(0, run: 1)
        _ = machine.ended(0, run: 1, .threw)
        _ = machine.next(at: .zero)
        expect(machine.restart(0, after: .zero, at: .zero), true)
        expect(machine.next(at: .zero), .start(0, run: 2))
        _ = machine.began(0, run: 2)
        expect(machine.ready(0, run: 1), nil)
        #expect(machine.phase(of: 0) == .starting)
    }

    @Test func aReadyThatTheCoordinatorHasNotSeenIsPublishedBeforeTheEnd() {
        var machine = machine()
        expect(machine.next(at: .zero), .start(0, run: 1))
        _ = machine.began(0, run: 1)
        _ = machine.ready(0, run: 1)
        _ = machine.ended(0, run: 1, .returned)
        expect(machine.next(at: .zero), .announceReady(0))
        expect(machine.next(at: .zero), .completed(0))
        expect(machine.next(at: .zero), .end(.completed))
    }

    @Test func aRestartBeyondTheLimitIsRefusedWhenItIsPlanned() {
        var machine = machine(.init(), .restarts(1, per: .seconds(10)))
        run(&machine, 1, at: .zero)
        _ = machine.ended(0, run: 1, .threw)
        _ = machine.next(at: .zero)
        expect(machine.restart(0, after: .seconds(1), at: .zero), true)
        expect(machine.next(at: .zero), .wait(until: .seconds(1)))
        run(&machine, 2, at: .seconds(1))
        _ = machine.ended(0, run: 2, .threw)
        _ = machine.next(at: .seconds(2))
        expect(machine.restart(0, after: .seconds(8), at: .seconds(2)), false, "nine seconds after the first one")
        machine.fail(0)
        expect(machine.next(at: .seconds(2)), .end(.failed(0)))
    }

    @Test func waitersOfAChildAreWokenByItsReadinessOrItsEnd() {
        var machine = machine()
        guard case .waits(let id) = machine.enrollForReadiness(of: 0), let end = machine.enrollForEnd(of: 0),
            let all = machine.enrollForEnd(of: nil)
        else {
            Issue.record("Nothing has happened yet.")
            return
        }
        expect(machine.parkForReadiness(of: 0, id, 1), nil)
        expect(machine.parkForEnd(of: 0, end, 2), nil)
        expect(machine.parkForEnd(of: nil, all, 3), nil)
        #expect(machine.hasWaiters(0))
        expect(machine.wakeReady(0), [1])
        let woken = machine.wakeEnded(0)
        #expect(woken.reached == [2] && woken.ended.isEmpty)
        #expect(!machine.hasWaiters(0))
        expect(machine.end().reached, [3])
        guard case .ended = machine.enrollForReadiness(of: 0) else {
            Issue.record("Nothing becomes ready after the end.")
            return
        }
        expect(machine.enrollForEnd(of: nil), nil)
    }

    @Test func aWaitEndsWhenOthersSeeWhatItWaitedFor() {
        var machine = machine()
        expect(machine.next(at: .zero), .start(0, run: 1))
        _ = machine.began(0, run: 1)
        _ = machine.ready(0, run: 1)
        expect(machine.next(at: .zero), .announceReady(0))
        guard case .waits(let id) = machine.enrollForReadiness(of: 0) else {
            Issue.record("Nobody has published it.")
            return
        }
        expect(machine.parkForReadiness(of: 0, id, 1), nil)
        expect(machine.wakeReady(0), [1])
        guard case .reached = machine.enrollForReadiness(of: 0) else {
            Issue.record("It is ready.")
            return
        }
        _ = machine.ended(0, run: 1, .returned)
        expect(machine.next(at: .zero), .completed(0))
        let isWaiting = machine.enrollForEnd(of: 0) != nil
        #expect(isWaiting, "the end is not published")
        expect(machine.stop(0).answer, .stops)
        _ = machine.wakeEnded(0)
        expect(machine.enrollForEnd(of: 0), nil)
        expect(machine.stop(0).answer, .isOver)
    }

    @Test func aWaitOfAChildThatHasFailedEndsWhenOthersSeeIt() {
        var machine = machine(.init(restart: .never))
        run(&machine, 1, at: .zero)
        _ = machine.ended(0, run: 1, .threw)
        expect(machine.next(at: .zero), .failed(0, failures: 1, mayRestart: false))
        machine.fail(0)
        guard case .waits(let id) = machine.enrollForReadiness(of: 0) else {
            Issue.record("The causes are not published.")
            return
        }
        // Before it has parked.
        _ = machine.wakeEnded(0)
        expect(machine.parkForReadiness(of: 0, id, 1), .ended)
        #expect(machine.isEmpty)
    }

    /// A child that has ended is removed, and its number is not used again.
    @Test func aThousandChildrenLeaveNothing() {
        var machine = Machine(.all, .unlimited)
        expect(machine.begin(), true)
        for child in 0..<1_000 {
            expect(machine.add(.init()).child, child)
            expect(machine.next(at: .zero), .start(child, run: 1))
            _ = machine.began(child, run: 1)
            _ = machine.ended(child, run: 1, .returned)
            expect(machine.next(at: .zero), .completed(child))
            let end = machine.enrollForEnd(of: child)
            #expect(end != nil && !machine.isEmpty)
            _ = machine.wakeEnded(child)
            // It has enrolled, and parks only now.
            if let end { expect(machine.parkForEnd(of: child, end, 1), .reached) }
            #expect(machine.isEmpty)
            // A late call of the run, and late calls of its owner.
            expect(machine.ready(child, run: 1), nil)
            expect(machine.ended(child, run: 1, .threw), nil)
            expect(machine.stop(child).answer, .isOver)
            expect(machine.enrollForEnd(of: child), nil)
        }
        expect(machine.next(at: .zero), .end(.completed))
    }

    /// A machine whose children are ready.
    private func ready(
        _ count: Int,
        _ strategy: Supervisor.Strategy,
        _ limit: RestartLimit = .unlimited,
        rules: Machine.Rules = .init()
    ) -> Machine {
        var machine = Machine(strategy, limit)
        for child in 0..<count { expect(machine.add(rules).child, child) }
        expect(machine.begin(), true)
        for child in 0..<count {
            expect(machine.next(at: .zero), .start(child, run: 1))
            _ = machine.began(child, run: 1)
            _ = machine.ready(child, run: 1)
            expect(machine.next(at: .zero), .announceReady(child))
            _ = machine.wakeReady(child)
        }
        return machine
    }

    /// Ends the first run of a child with an error, and plans its restart.
    private func restart(_ machine: inout Machine, _ child: Int, after seconds: Int) -> Bool {
        _ = machine.ended(child, run: 1, .threw)
        expect(machine.next(at: .zero), .failed(child, failures: 1, mayRestart: true))
        return machine.restart(child, after: .seconds(seconds), at: .zero)
    }

    @Test func aChildThatIsStoppedWithAGraceIsAskedAndThenCancelled() {
        var machine = ready(2, .one, rules: .init(grace: .seconds(5)))
        expect(machine.stop(0).answer, .stops)
        expect(machine.next(at: .zero), .requestStop(0))
        expect(machine.next(at: .zero), .wait(until: .seconds(5)))
        expect(machine.next(at: .seconds(5)), .cancel(0, isFinal: true))
        _ = machine.ended(0, run: 1, .threw)
        expect(machine.next(at: .seconds(5)), .down(0, isFinal: true))
        expect(machine.next(at: .seconds(5)), .wait(until: nil))
    }

    @Test func aChildThatIsStoppedAbruptlyHasNoGraceAlsoIfItIsBeingStopped() {
        for isStopped in [false, true] {
            var machine = ready(2, .one, rules: .init(grace: .seconds(5)))
            if isStopped {
                expect(machine.stop(0).answer, .stops)
                expect(machine.next(at: .zero), .requestStop(0))
            }
            expect(machine.stop(0, isAbrupt: true).answer, .cancels)
            expect(machine.next(at: .zero), .wait(until: nil))
            _ = machine.ended(0, run: 1, .threw)
            expect(machine.next(at: .zero), .down(0, isFinal: true))
        }
    }

    @Test func aChildThatWasCancelledAndStillRunsDelaysNoOther() {
        var machine = ready(1, .one, rules: .init(grace: .seconds(5)))
        expect(machine.stop(0).answer, .stops)
        expect(machine.next(at: .zero), .requestStop(0))
        expect(machine.next(at: .seconds(5)), .cancel(0, isFinal: true))
        expect(machine.add(.init()).child, 1)
        expect(machine.next(at: .seconds(5)), .start(1, run: 1))
    }

    @Test func aGraceThatTheOwnerEndsLastsUntilThen() {
        var machine = ready(1, .one, rules: .init(grace: .seconds(5)))
        _ = machine.close(isAbrupt: false, graceIsOfOwner: true)
        expect(machine.next(at: .zero), .requestStop(0))
        expect(machine.next(at: .seconds(100)), .wait(until: nil))
        _ = machine.close(isAbrupt: true)
        expect(machine.next(at: .seconds(100)), .cancel(0, isFinal: true))
        // The first call decides whose the grace period is.
        var own = ready(1, .one, rules: .init(grace: .seconds(5)))
        _ = own.close(isAbrupt: false)
        _ = own.close(isAbrupt: false, graceIsOfOwner: true)
        expect(own.next(at: .zero), .requestStop(0))
        expect(own.next(at: .zero), .wait(until: .seconds(5)))
    }

    @Test func aChildThatIsStoppedWithoutAGraceIsCancelledByTheCaller() {
        var machine = ready(2, .one)
        expect(machine.stop(0).answer, .cancels)
        expect(machine.next(at: .zero), .wait(until: nil))
        _ = machine.ended(0, run: 1, .threw)
        expect(machine.next(at: .zero), .down(0, isFinal: true))
        expect(machine.next(at: .zero), .wait(until: nil))
    }

    @Test func cancellingAllEndsWhatHasNotBegunAndCancelsWhatRuns() {
        var waiting = Machine(.one, .unlimited)
        for child in 0..<2 { expect(waiting.add(.init()).child, child) }
        let before = waiting.cancelAll()
        #expect(before.ended == [0, 1] && before.running.isEmpty && before.waking == nil && waiting.count == 0)
        var running = ready(2, .one)
        expect(running.next(at: .zero), .wait(until: nil))
        expect(running.park(7), false)
        let during = running.cancelAll()
        #expect(during.ended.isEmpty && during.running == [0, 1] && during.waking == 7)
        // The caller returns when all are cancelled, also those that another caller is about to cancel.
        #expect(running.cancelAll().running == [0, 1])
    }

    @Test func siblingsOfAFailedChildStopAndBeginAgainWithIt() {
        var machine = ready(2, .all)
        expect(restart(&machine, 1, after: 5), true)
        guard case .waits = machine.enrollForReadiness(of: 0) else {
            Issue.record("It must stop.")
            return
        }
        expect(machine.next(at: .zero), .requestStop(0))
        expect(machine.next(at: .zero), .cancel(0, isFinal: false))
        _ = machine.ended(0, run: 1, .threw)
        expect(machine.next(at: .zero), .down(0, isFinal: false))
        expect(machine.next(at: .zero), .wait(until: .seconds(5)))
        expect(machine.next(at: .seconds(5)), .start(0, run: 2))
    }

    @Test func aRestartWithASiblingIsNoEarlierThanItWasPlanned() {
        var machine = ready(2, .rest)
        expect(restart(&machine, 1, after: 10), true)
        expect(restart(&machine, 0, after: 1), true)
        expect(machine.next(at: .seconds(1)), .start(0, run: 2))
        _ = machine.began(0, run: 2)
        _ = machine.ready(0, run: 2)
        expect(machine.next(at: .seconds(1)), .announceReady(0))
        expect(machine.next(at: .seconds(2)), .wait(until: .seconds(10)))
        expect(machine.next(at: .seconds(10)), .start(1, run: 2))
    }

    @Test(arguments: [0, 1])
    func aRestartWhoseTaskHasNotBegunCountsForTheLimit(first: Int) {
        var machine = ready(2, .one, .restarts(1, per: .seconds(10)))
        expect(restart(&machine, first, after: 0), true)
        expect(machine.next(at: .zero), .start(first, run: 2))
        expect(restart(&machine, 1 - first, after: 0), false)
    }

    @Test func theFirstChildThatFailsIsTheFailureOfAll() {
        var machine = ready(2, .one)
        _ = machine.ended(0, run: 1, .threw)
        expect(machine.next(at: .zero), .failed(0, failures: 1, mayRestart: true))
        machine.fail(0)
        _ = machine.ended(1, run: 1, .threw)
        expect(machine.next(at: .zero), .down(1, isFinal: true))
        machine.fail(1)
        expect(machine.next(at: .zero), .end(.failed(0)))
        // A failure that was about to be decided counts more than a stop.
        var stopped = ready(1, .one)
        _ = stopped.ended(0, run: 1, .threw)
        expect(stopped.next(at: .zero), .failed(0, failures: 1, mayRestart: true))
        _ = stopped.close(isAbrupt: false)
        stopped.fail(0)
        expect(stopped.next(at: .zero), .end(.failed(0)))
    }

    @Test func aChildThatWaitsForItsRestartIsNotReady() {
        var machine = ready(1, .one)
        expect(restart(&machine, 0, after: 1), true)
        guard case .waits = machine.enrollForReadiness(of: 0) else {
            Issue.record("Its last run was ready.")
            return
        }
    }

    @Test func aChildThatIsGoneIsNotFoundBesideOthers() {
        var machine = ready(4, .one)
        _ = machine.ended(1, run: 1, .returned)
        expect(machine.next(at: .zero), .completed(1))
        _ = machine.wakeEnded(1)
        expect(machine.ready(1, run: 1), nil)
        expect(machine.ended(1, run: 1, .threw), nil)
        expect(machine.stop(1).answer, .isOver)
        expect(machine.enrollForEnd(of: 1), nil)
        expect(machine.raise(.end(of: 1), to: 25), [])
        #expect(machine.raisedTo(1) == 0 && machine.count == 3)
        // Most are gone, so their places are too.
        for child in [0, 2] {
            _ = machine.ended(child, run: 1, .returned)
            expect(machine.next(at: .zero), .completed(child))
            _ = machine.wakeEnded(child)
        }
        expect(machine.ended(1, run: 1, .threw), nil)
        #expect(machine.phase(of: 3) == .ready && machine.raisedTo(1) == 0)
    }

    /// Starts `count` children, stops them, and returns the number of steps that the machine has taken.
    private func visits(starting count: Int, _ strategy: Supervisor.Strategy, stopping: Stopping) -> Int {
        var machine = Machine(strategy, .restarts(count, per: .seconds(60)))
        for _ in 0..<count { _ = machine.add(.init(restart: .always)) }
        expect(machine.begin(), true)
        var (time, runs, readyCount, isClosed) = (Duration.zero, [Int: Int](), 0, false)
        while true {
            switch machine.next(at: time) {
            case .start(let child, let run):
                runs[child] = run
                _ = machine.began(child, run: run)
                _ = machine.ready(child, run: run)
            case .announceReady(let child):
                _ = machine.wakeReady(child)
                readyCount += 1
                if stopping == .afterFailures, runs[child] == 1 { _ = machine.ended(child, run: 1, .threw) }
            case .failed(let child, _, _):
                // All of them wait for their restarts at the same time.
                expect(machine.restart(child, after: .seconds(1), at: time), true)
            case .requestStop: time += .seconds(1)
            case .cancel(let child, _): _ = machine.ended(child, run: runs[child]!, .threw)
            case .down(let child, let isFinal): if isFinal { _ = machine.wakeEnded(child) }
            case .leave: Issue.record("No run has a limit after its cancellation.")
            case .wait(let until?): time = until
            case .wait(nil):
                guard readyCount >= count, !isClosed else {
                    Issue.record("The machine waits, and everything was stopped.")
                    return 0
                }
                isClosed = true
                if stopping == .oneByOne {
                    for child in 0..<count where machine.stop(child).answer == .cancels {
                        _ = machine.ended(child, run: runs[child]!, .threw)
                    }
                } else {
                    _ = machine.close(isAbrupt: false)
                }
            case .end:
                _ = machine.end()
                #expect(machine.isEmpty && isClosed)
                return machine.visitCount
            case .completed, .limitReached:
                Issue.record("Nothing completes, and the limit is high.")
                return 0
            }
        }
    }

    private enum Stopping: CaseIterable { case together, oneByOne, afterFailures }

    /// Starting and stopping 16 times as many children takes about 16 times as many steps, times the ratio of the
    /// logarithms, 1.5.
    @Test(arguments: Supervisor.Strategy.allCases, Stopping.allCases)
    private func startingAndStoppingIsNearlyLinear(_ strategy: Supervisor.Strategy, _ stopping: Stopping) {
        if strategy != .one, stopping == .afterFailures { return }
        let few = fullSize(256, inDebug: 64)
        let ratio =
            Double(visits(starting: 16 * few, strategy, stopping: stopping))
            / Double(visits(starting: few, strategy, stopping: stopping))
        #expect(ratio < 32, "linear: 16, quadratic: 256")
    }

    @Test func waitingForTheReadinessOfChildrenRaisesEachOnce() {
        var machine = Machine(.all, .unlimited)
        for _ in 0..<1_000 { _ = machine.add(.init()) }
        expect(machine.begin(), true)
        expect(machine.raise(.readiness(of: 2), to: 25), [0, 1, 2])
        expect(machine.raise(.readiness(of: 2), to: 25), [])
        expect(machine.raise(.readiness(of: 3), to: 21), [3])
        expect(machine.raise(.readiness(of: 4), to: 25), [3, 4])
        #expect(machine.raisedTo(2) == 25 && machine.raisedTo(5) == 0)
        expect(machine.raise(.end(of: 5), to: 25), [5])
        let before = machine.visitCount
        var raised: [Int] = []
        for child in 0..<1_000 { raised += machine.raise(.readiness(of: child), to: 25) }
        #expect(raised == Array(6..<1_000))
        #expect(machine.visitCount - before < 1_000 * 40)
        // A child that is ready is not waited for, and is raised again with its next run.
        expect(machine.next(at: .zero), .start(0, run: 1))
        _ = machine.began(0, run: 1)
        _ = machine.ready(0, run: 1)
        expect(machine.next(at: .zero), .announceReady(0))
        _ = machine.wakeReady(0)
        expect(machine.raise(.readiness(of: 1), to: 25), [])
        _ = machine.ended(0, run: 1, .threw)
        expect(machine.raise(.readiness(of: 1), to: 25), [0])
        expect(machine.raise(.all, to: 30), Array(0..<1_000))
        expect(machine.raise(.readiness(of: 999), to: 30), [])
    }

    /// A restart counts from the moment in which its operation begins: its task may wait for a thread.
    @Test func theLimitCountsFromTheBeginningOfARestart() {
        var machine = machine(.init(), .restarts(1, per: .seconds(10)))
        run(&machine, 1, at: .zero)
        _ = machine.ended(0, run: 1, .threw)
        _ = machine.next(at: .zero)
        expect(machine.restart(0, after: .zero, at: .zero), true)
        expect(machine.next(at: .zero), .start(0, run: 2))
        expect(machine.next(at: .seconds(9)), .wait(until: nil))
        _ = machine.began(0, run: 2)
        _ = machine.ended(0, run: 2, .threw)
        expect(machine.next(at: .seconds(9)), .failed(0, failures: 2, mayRestart: true))
        expect(machine.restart(0, after: .seconds(9), at: .seconds(9)), false, "nine seconds after the first one")
        expect(machine.restart(0, after: .seconds(10), at: .seconds(9)), true)
    }

    @Test func waitersThatLeaveAreNotWoken() {
        var machine = machine()
        guard case .waits(let id) = machine.enrollForReadiness(of: 0), let end = machine.enrollForEnd(of: 0) else {
            return
        }
        // Before it has parked.
        expect(machine.leaveReadiness(of: 0, id), nil)
        expect(machine.parkForReadiness(of: 0, id, 1), .left)
        expect(machine.parkForEnd(of: 0, end, 2), nil)
        expect(machine.leaveEnd(of: 0, end), 2)
        #expect(!machine.hasWaiters(0))
    }

    /// The task of the waiter is cancelled after the waiter was woken.
    @Test func aWaiterOfAChildThatIsGoneLeavesNothing() {
        var machine = machine()
        guard case .waits(let id) = machine.enrollForReadiness(of: 0), let end = machine.enrollForEnd(of: 0) else {
            Issue.record("Nothing has happened yet.")
            return
        }
        expect(machine.parkForReadiness(of: 0, id, 1), nil)
        expect(machine.parkForEnd(of: 0, end, 2), nil)
        let woken = machine.wakeEnded(0)
        #expect(woken.ended == [1] && woken.reached == [2] && machine.isEmpty)
        expect(machine.leaveReadiness(of: 0, id), nil)
        expect(machine.leaveEnd(of: 0, end), nil)
    }

    @Test func aMachineThatIsClosedBeforeItHasBegunEndsAtOnce() {
        var machine = Machine(.all, .unlimited)
        _ = machine.add(.init())
        expect(machine.close(isAbrupt: false).isEnd, true)
        expect(machine.close(isAbrupt: false).isEnd, false, "one caller publishes the end")
        expect(machine.begin(), false)
        expect(machine.add(.init()).child, nil)
        // The end is not published yet: callers wait for it.
        expect(machine.stop(0).answer, .stops)
        let isWaiting = machine.enrollForEnd(of: nil) != nil
        #expect(isWaiting && !machine.hasEnded)
        _ = machine.end()
        #expect(machine.hasEnded)
        expect(machine.stop(0).answer, .isOver)
    }

    @Test func aMachineThatEndsTakesNoChild() {
        var machine = Machine(.one, .unlimited)
        expect(machine.begin(), true)
        expect(machine.next(at: .zero), .end(.completed))
        expect(machine.add(.init()).child, nil)
    }

    @Test func childrenThatAreCancelledBeforeTheBeginningNeverRunAndLaterOnesDo() {
        var machine = Machine(.all, .unlimited)
        for _ in 0..<2 { _ = machine.add(.init()) }
        expect(machine.count, 2)
        let (ended, running, waking) = machine.cancelAll()
        #expect(ended == [0, 1] && running.isEmpty && waking == nil && machine.count == 0)
        _ = machine.add(.init())
        expect(machine.count, 1)
        expect(machine.begin(), true)
        expect(machine.next(at: .zero), .start(2, run: 1))
    }

    @Test func aChildThatIsStoppedBeforeTheBeginningNeverRuns() {
        var machine = Machine(.all, .unlimited)
        _ = machine.add(.init())
        expect(machine.stop(0).answer, .isStopped)
        expect(machine.begin(), true)
        expect(machine.next(at: .zero), .end(.completed))
    }
}

@Suite(.tags(.machine))
struct RestartWindowTests {
    /// Restarts at random times, as many as the window allows: no period of the limit's length has more.
    @Test func noWindowHasMoreRestartsThanAllowed() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<fullSize(2_000, inDebug: 200) {
            let (count, period) = (Int.random(in: 0...5, using: &random), Int.random(in: 1...20, using: &random))
            var (window, times, time) = (RestartWindow(.restarts(count, per: .seconds(period))), [Int](), 0)
            for _ in 0..<100 {
                time += Int.random(in: 0...6, using: &random)
                let isAllowed = times.count { time - $0 < period } < count
                #expect(window.isFull(at: .seconds(time)) == !isAllowed)
                guard isAllowed else { continue }
                window.record(at: .seconds(time))
                times.append(time)
                #expect(window.times.count <= count, "no more is kept")
            }
        }
    }

    @Test func anUnlimitedWindowKeepsNothing() {
        var window = RestartWindow(.unlimited)
        for second in 0..<100 { window.record(at: .seconds(second)) }
        #expect(window.times.isEmpty && !window.isFull(at: .zero))
    }

    @Test func negativeValuesHaveTheNearestMeaning() {
        #expect(RestartWindow(.restarts(-1, per: .seconds(1))).isFull(at: .zero))
        var window = RestartWindow(.restarts(1, per: .seconds(-1)))
        window.record(at: .zero)
        #expect(!window.isFull(at: .zero))
    }
}
