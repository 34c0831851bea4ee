import Foundation
import TestSupport
import Testing

@_spi(Observers) @testable import TaskControl
@testable import TaskControlSnapshot

/// The books of what lives, event by event.
@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct TrackerStateMachineTests {
    private typealias Identity = TaskEvent.Identity
    private let queue = TaskEvent.Identity(1)

    private func event(
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change = .noted,
        _ subject: UInt64? = nil,
        in primitive: TaskEvent.Primitive = .fifoQueue,
        owner: TaskEvent.Identity? = TaskEvent.Identity(1),
        count: Int? = nil,
        task: UInt? = nil,
        at seconds: Int = 0
    ) -> TaskEvent {
        let subject = subject.map { Identity($0, of: 1) }
        var event = TaskEvent(primitive, kind, change, owner: owner, subject: subject, count: count)
        event.task = task.map { TaskEvent.TaskIdentity(address: $0) }
        event.time = .seconds(seconds)
        // Later than those of `books`.
        event.sequence = 1_000
        return event
    }

    private func books(_ events: [TaskEvent], limit: Int = 100) -> TrackerStateMachine {
        var books = TrackerStateMachine(limit: limit)
        for (index, event) in events.enumerated() {
            var event = event
            event.sequence = UInt64(index)
            books.receive(event)
        }
        return books
    }

    @Test func aTurnWaitsRunsAndGoes() {
        var books = books([
            event(.created), event(.enqueued, .began(.waiting), 1, at: 1), event(.enqueued, .began(.waiting), 2, at: 2),
        ])
        #expect(books.subjects.values.allSatisfy { $0.phase == .waiting })
        books.receive(event(.started, .entered(.running), 1, task: 7, at: 3))
        books.receive(event(.waiting, .entered(.waiting), 2, task: 8, at: 3))
        let entries = books.snapshot(at: .seconds(5)).owners[0].entries
        #expect(entries.map(\.phase) == [.running, .waiting])
        #expect(entries.map(\.age) == [.seconds(4), .seconds(3)])
        #expect(entries.map(\.phaseAge) == [.seconds(2), .seconds(2)])
        #expect(entries.map(\.waitsFor) == [[], [Identity(1, of: 1)]])
        books.receive(event(.completed, .ended(.completed), 1))
        books.receive(event(.skipped, .ended(.skipped), 2))
        #expect(books.subjects.isEmpty && books.owners.mapValues(\.primitive) == [queue: .fifoQueue])
        books.receive(event(.deallocated))
        #expect(books.owners.isEmpty)
    }

    @Test func anOwnerThatIsLetGoOfStaysAsLongAsItsTasks() {
        var books = books([event(.created), event(.enqueued, .began(.waiting), 1), event(.closed), event(.deallocated)])
        let owner = books.snapshot(at: .zero).owners.first
        #expect(owner?.isDeallocated == true && owner?.isClosed == true)
        books.receive(event(.completed, .ended(.completed), 1))
        #expect(books.owners.isEmpty)
    }

    @Test func aPausedOwnerIsNamed() throws {
        var books = books([event(.created), event(.enqueued, .began(.waiting), 1), event(.paused)])
        let snapshot = books.snapshot(at: .zero)
        let owner = try #require(snapshot.owners.first)
        #expect(owner.isPaused && "\(snapshot)".contains(", paused"))
        let copy = try JSONDecoder().decode(TaskSnapshot.Owner.self, from: JSONEncoder().encode(owner))
        #expect(copy.isPaused)
        books.receive(event(.resumed))
        #expect(books.snapshot(at: .zero).owners.first?.isPaused == false)
    }

    @Test func anOwnerWhoseEndIsNotToldGoesWithItsLastSubject() {
        var books = books([event(.enqueued, .began(.waiting), 1), event(.enqueued, .began(.waiting), 2)])
        #expect(books.owners.count == 1)
        books.receive(event(.completed, .ended(.completed), 1))
        #expect(books.owners.count == 1)
        books.receive(event(.completed, .ended(.completed), 2))
        #expect(books.owners.isEmpty)
    }

    /// Events about a subject may come after its end, or concern a subject that began before tracking did.
    @Test func whatIsToldOfNobodyChangesNothing() {
        for kind in [TaskEvent.Kind.joined, .left, .cancelled, .dropped, .boundToLifetime, .started, .failed] {
            for change in [TaskEvent.Change.noted, .entered(.running), .ended(.completed)] {
                let books = books([event(kind, change, 1, in: .taskBag, owner: nil, task: 3)])
                #expect(books.subjects.isEmpty && books.owners.isEmpty && books.dropped == 0, "\(kind)")
            }
        }
    }

    @Test func permitsOfBareCallsAreCounted() {
        let semaphore: [TaskEvent] = [
            event(.created, in: .asyncSemaphore, count: 3), event(.acquired, in: .asyncSemaphore, count: 2),
            event(.waiting, .began(.waiting), 1, in: .asyncSemaphore, count: 1),
            event(.acquired, .ended(.completed), 1, in: .asyncSemaphore, count: 1),
        ]
        var books = books(semaphore)
        #expect(books.snapshot(at: .zero).owners[0].permitsOut == 3)
        books.receive(event(.released, in: .asyncSemaphore, count: 3))
        #expect(books.snapshot(at: .zero).owners[0].permitsOut == 0)
    }

    /// A primitive of another package, whose kinds the books know by their names.
    private func circuit(_ kind: String, at seconds: Int) -> TaskEvent {
        event(TaskEvent.Kind(rawValue: kind), in: TaskEvent.Primitive(rawValue: "CircuitBreaker"), at: seconds)
    }

    @Test func aCircuitIsOpenUntilItCloses() {
        var books = books([
            circuit("circuitOpened", at: 1), circuit("callRefused", at: 3), circuit("callRefused", at: 2),
        ])
        var owner: TaskSnapshot.Owner? { books.snapshot(at: .seconds(10)).owners.first }
        #expect(owner?.circuit == .open(for: .seconds(9)))
        #expect(owner?.refusedCount == 2 && owner?.lastRefusalAge == .seconds(7))
        books.receive(circuit("probing", at: 4))
        #expect(owner?.circuit == .halfOpen(for: .seconds(6)))
        books.receive(circuit("circuitOpened", at: 5))
        #expect(owner?.circuit == .open(for: .seconds(5)))
        books.receive(circuit("circuitClosed", at: 6))
        #expect(owner?.circuit == nil && owner?.refusedCount == 2)
        books.receive(event(.deallocated))
        #expect(books.owners.isEmpty)
    }

    @Test func theLastDecisionAboutACircuitCounts() {
        var books = books([])
        for (kind, number) in [("circuitClosed", UInt64(3)), ("circuitOpened", 1), ("probing", 2)] {
            var event = circuit(kind, at: 1)
            event.sequence = number
            books.receive(event)
        }
        #expect(books.snapshot(at: .zero).owners.map(\.circuit) == [nil])
    }

    @Test func whatIsTooMuchIsCountedAndItsEndForgotten() {
        var books = books((1...5).map { event(.enqueued, .began(.waiting), $0) }, limit: 3)
        #expect(books.subjects.count == 3 && books.omitted == 2)
        for number in 1...5 { books.receive(event(.completed, .ended(.completed), UInt64(number))) }
        #expect(books.subjects.isEmpty && books.owners.isEmpty)
        books.receive(event(.enqueued, .began(.waiting), 9))
        #expect(books.subjects.count == 1 && books.omitted == 2)
    }

    @Test func atMostTheLimitOfOwnersIsTracked() {
        let books = books((1...5).map { event(.created, owner: Identity($0)) }, limit: 3)
        #expect(Set(books.owners.keys) == [Identity(1), Identity(2), Identity(3)])
        #expect(books.snapshot(at: .zero).owners.map(\.id) == [Identity(1), Identity(2), Identity(3)])
    }

    @Test func aSubjectOfAnOwnerThatIsNotTrackedIsOmitted() {
        let books = books(
            [
                event(.created, owner: Identity(1)), event(.created, owner: Identity(2)),
                event(.enqueued, .began(.waiting), 1, owner: Identity(3)),
                event(.enqueued, .began(.waiting), 2, owner: Identity(2)),
            ],
            limit: 2
        )
        #expect(books.omitted == 1 && Array(books.subjects.keys) == [Identity(2, of: 1)])
    }

    @Test func atMostTheLimitOfCallersIsTracked() {
        let books = books(
            [event(.started, .began(.waiting), 1, in: .singleFlight, task: 7)]
                + (8...10).map { event(.joined, .noted, 1, in: .singleFlight, task: $0) },
            limit: 2
        )
        #expect(books.subjects[Identity(1, of: 1)]?.callers.count == 2)
    }

    @Test func theCapacityOfASemaphoreIsThatOfItsCreation() {
        let books = books([event(.created, in: .asyncSemaphore, count: 3)])
        #expect(books.owners[queue]?.capacity == 3 && books.owners[queue]?.isClosed == false)
    }

    @Test func aSubjectActsInTheTaskThatWaitsOrRuns() {
        func subject(_ events: TaskEvent...) -> TrackerStateMachine.Subject? {
            books(events).subjects[Identity(1, of: 1)]
        }
        let (call, turn) = (
            event(.started, .began(.running), 1, in: .retry, task: 7), event(.enqueued, .began(.waiting), 1, task: 7)
        )
        let flight = event(.started, .began(.waiting), 1, in: .singleFlight, task: 7)
        let identities = [7, 8].map { TaskEvent.TaskIdentity(address: $0) }
        #expect(subject(call)?.actsIn == identities[0] && subject(call)?.callers.isEmpty == true)
        #expect(subject(turn)?.actsIn == nil)
        #expect(subject(event(.draining, .began(.waiting), 1, task: 7))?.actsIn == identities[0])
        #expect(subject(flight)?.actsIn == nil && subject(flight)?.callers.mapValues(\.count) == [identities[0]: 1])
        let start = event(.started, .entered(.running), 1, task: 8)
        #expect(subject(turn, start)?.actsIn == identities[1])
        #expect(
            subject(turn, start, event(.started, .entered(.running), 1))?.actsIn == identities[1],
            "no other task is known"
        )
    }

    @Test func aSubjectHasToWaitIfItSaysSoOrDrains() {
        for (kind, hasToWait) in [(TaskEvent.Kind.waiting, true), (.draining, true), (.enqueued, false)] {
            let subject = books([event(kind, .began(.waiting), 1)]).subjects[Identity(1, of: 1)]
            #expect(subject?.hasToWait == hasToWait && subject?.isDrain == (kind == .draining), "\(kind)")
            #expect(subject?.count == 1 && subject?.isDropped == false)
        }
        #expect(books([event(.waiting, .began(.waiting), 1, count: 3)]).subjects[Identity(1, of: 1)]?.count == 3)
    }

    @Test func aSubjectKeepsItsFirstNameAndItsLastAttempt() {
        var books = books([event(.started, .began(.running), 1, in: .retry)])
        for (name, attempt) in [("a", 1), ("b", 2), (nil, nil)] as [(String?, Int?)] {
            var event = event(.failed, .noted, 1, in: .retry)
            (event.taskName, event.attempt) = (name, attempt)
            books.receive(event)
        }
        let subject = books.subjects[Identity(1, of: 1)]
        #expect(subject?.name == "a" && subject?.attempt == 2)
    }

    @Test func aDelayLastsAsLongAsItsWait() {
        var books = books([event(.added, .began(.waiting), 1)])
        for (kind, phase, shown) in [
            (TaskEvent.Kind.waiting, TaskEvent.Phase.waiting, Duration.seconds(3)), (.started, .running, nil),
        ] {
            var event = event(kind, .entered(phase), 1)
            event.delay = .seconds(3)
            books.receive(event)
            #expect(books.subjects[Identity(1, of: 1)]?.delay == shown, "\(kind)")
        }
    }

    @Test func aDroppedTaskIsCountedAndCancelled() {
        let books = books([event(.created, .began(.waiting), 1), event(.dropped, .noted, 1, at: 4)])
        let subject = books.subjects[Identity(1, of: 1)]
        #expect(books.dropped == 1 && subject?.isDropped == true && subject?.cancelledAt == .seconds(4))
    }

    @Test func aDetachedTaskHasNoOwner() {
        let books = books([event(.created, .began(.waiting), 1), event(.detached, .noted, 1)])
        #expect(books.owners.isEmpty && books.subjects[Identity(1, of: 1)]?.owner == nil)
    }

    /// The creation of a semaphore is unknown if it is older than the tracking.
    @Test func aSemaphoreOfUnknownCreationIsTrackedUntilItsPermitsAreReleased() {
        var books = books([
            event(.acquired, in: .asyncSemaphore, count: 2),
            event(.waiting, .began(.waiting), 1, in: .asyncSemaphore, count: 1),
            event(.left, .ended(.cancelled), 1, in: .asyncSemaphore, count: 1),
            event(.released, in: .asyncSemaphore, count: 1),
        ])
        #expect(books.owners[queue]?.permitsOut == 1)
        books.receive(event(.released, in: .asyncSemaphore, count: 1))
        #expect(books.owners.isEmpty)
    }

    @Test func aSubjectThatIsCancelledTwiceKeepsTheTimeOfTheFirstCancellation() {
        for second in [TaskEvent.Kind.cancelled, .dropped] {
            let books = books([
                event(.added, .began(.waiting), 1), event(.cancelled, .noted, 1, at: 4),
                event(second, .noted, 1, at: 6),
            ])
            #expect(books.snapshot(at: .seconds(10)).owners[0].entries[0].cancelledAge == .seconds(6), "\(second)")
        }
    }

    @Test func aTaskMovesToTheLifetimeThatItIsBoundTo() {
        let lifetime = Identity(2)
        var books = books([
            event(.created, .began(.waiting), 1, in: .asyncTask, owner: nil),
            event(.boundToLifetime, .noted, 1, in: .asyncTask, owner: lifetime),
        ])
        #expect(books.owners[lifetime]?.subjects == [Identity(1, of: 1)])
        #expect(books.owners[lifetime]?.primitive == .asyncLifetime)
        books.receive(event(.boundToLifetime, .noted, 1, in: .asyncTask, owner: Identity(3)))
        #expect(books.owners[lifetime] == nil && books.owners[Identity(3)]?.subjects.count == 1)
        books.receive(event(.completed, .ended(.completed), 1, in: .asyncTask, owner: Identity(3)))
        #expect(books.owners.isEmpty)
    }

    @Test func callersOfAFlightComeAndLeave() {
        var books = books([
            event(.started, .began(.waiting), 1, in: .singleFlight, task: 7),
            event(.joined, .noted, 1, in: .singleFlight, task: 8),
        ])
        #expect(books.snapshot(at: .zero).owners[0].entries[0].waiterCount == 2)
        books.receive(event(.left, .noted, 1, in: .singleFlight, task: 7))
        books.receive(event(.left, .noted, 1, in: .singleFlight, task: 9))
        #expect(books.snapshot(at: .zero).owners[0].entries[0].waiterCount == 1)
    }

    /// One departure ends one call.
    @Test func aTaskThatJoinsAFlightTwiceWaitsUntilBothCallsHaveLeft() {
        let (flight, caller) = (Identity(1, of: 1), TaskEvent.TaskIdentity(address: 8))
        var books = books([
            event(.started, .began(.waiting), 1, in: .singleFlight, task: 7),
            event(.joined, .noted, 1, in: .singleFlight, task: 8),
            event(.joined, .noted, 1, in: .singleFlight, task: 8),
            event(.left, .noted, 1, in: .singleFlight, task: 8),
        ])
        #expect(books.subjects[flight]?.callers[caller]?.count == 1)
        books.receive(event(.left, .noted, 1, in: .singleFlight, task: 8))
        #expect(books.subjects[flight]?.callers.keys.contains(caller) == false)
    }

    /// Its own task reports it, after the beginning.
    @Test func aStartThatIsReportedBeforeTheBeginningIsIgnored() {
        let books = books([event(.started, .entered(.running), 1), event(.enqueued, .began(.waiting), 1)])
        #expect(books.subjects[Identity(1, of: 1)]?.phase == .waiting)
    }

    /// A task has the address of one that has ended.
    @Test func aTaskThatStartedLaterIsNotTheOneInWhichASubjectBegan() {
        let (added, next) = (
            event(.enqueued, .began(.waiting), 1, task: 7), event(.enqueued, .began(.waiting), 2, task: 8)
        )
        let start = event(.started, .entered(.running), 1, task: 8)
        func begunIn(_ events: TaskEvent...) -> [Identity?] {
            books(events).snapshot(at: .zero).owners[0].entries.map(\.begunIn)
        }
        #expect(begunIn(added, start, next) == [nil, Identity(1, of: 1)])
        #expect(begunIn(added, next, start) == [nil, nil])
        #expect(begunIn(added, start, next, event(.completed, .ended(.completed), 1, task: 8)) == [nil])
    }

    @Test func aWaitIsListedFromItsBeginningOn() {
        let books = books([
            event(.created), event(.enqueued, .began(.waiting), 1, at: 1),
            event(.started, .entered(.running), 1, at: 2),
            event(.enqueued, .began(.waiting), 2, at: 3), event(.waiting, .entered(.waiting), 2, at: 5),
        ])
        #expect(books.waits(since: .seconds(4)) == [])
        let wait = HangStateMachine.Wait(id: Identity(2, of: 1), number: 4, since: .seconds(5))
        #expect(books.waits(since: .seconds(5)) == [wait])
    }

    @Test func aFlightIsAWaitSinceTheFirstOfItsCallers() {
        var books = books([
            event(.started, .began(.waiting), 1, in: .singleFlight, task: 7, at: 1),
            event(.running, .entered(.running), 1, in: .singleFlight, task: 9, at: 1),
            event(.joined, .noted, 1, in: .singleFlight, task: 8, at: 4),
        ])
        #expect(books.waits(since: .seconds(9)).map(\.since) == [.seconds(1)])
        books.receive(event(.left, .noted, 1, in: .singleFlight, task: 7, at: 5))
        #expect(books.waits(since: .seconds(9)).map(\.since) == [.seconds(4)])
        books.receive(event(.left, .noted, 1, in: .singleFlight, task: 8, at: 5))
        #expect(books.waits(since: .seconds(9)) == [])
    }

    @Test func aDelayAndALimitedCallAreNoWaits() {
        var delay = event(.waiting, .entered(.waiting), 1, in: .retry)
        delay.delay = .seconds(60)
        let retrying = books([event(.failed, .began(.running), 1, in: .retry), delay])
        let limited = books([event(.started, .began(.waiting), 1, in: .withTimeout, task: 7)])
        #expect(retrying.waits(since: .seconds(9)) == [] && limited.waits(since: .seconds(9)) == [])
    }

    @Test func activeTasksAreTheOldestThatNeedAThread() {
        let books = books([
            event(.enqueued, .began(.waiting), 1), event(.enqueued, .began(.waiting), 2),
            event(.enqueued, .began(.waiting), 3), event(.waiting, .entered(.waiting), 1),
            event(.started, .entered(.running), 2),
        ])
        #expect(books.active(atMost: 9) == [Identity(2, of: 1), Identity(3, of: 1)])
        #expect(books.active(atMost: 1) == [Identity(2, of: 1)])
    }

    /// Half of the subjects have what the other half waits for.
    private func visits(of count: Int, in primitive: TaskEvent.Primitive, drains: Bool = false) -> Int {
        let half = count / 2
        var events = [event(.created, in: primitive, count: primitive == .asyncSemaphore ? half : nil)]
        for number in 0..<count {
            let (id, isRunning) = (UInt64(number), number < half)
            let kind: TaskEvent.Kind = drains && !isRunning ? .draining : .waiting
            events.append(event(kind, .began(.waiting), id, in: primitive, task: UInt(number + 1)))
            if isRunning {
                events.append(event(.started, .entered(.running), id, in: primitive, task: UInt(number + 1)))
            }
        }
        let builder = SnapshotBuilder(books(events, limit: 100_000), at: .seconds(1))
        let snapshot = builder.make()
        #expect(snapshot.owners[0].entries.count == count)
        #expect(snapshot.owners[0].entries[half].waitsFor.count == 8)
        return builder.visits.count
    }

    /// A snapshot of four times as many waiters takes four times as many steps: a waiter and each holder are not looked
    /// at together, and subjects are not looked at to sort them.
    @Test(arguments: [
        (TaskEvent.Primitive.asyncSemaphore, false), (.taskStore, false), (.concurrentQueue, false),
        (.fifoQueue, true), (.taskStore, true), (.asyncLifetime, true),
    ])
    func aSnapshotOfManyWaitersAndHoldersIsLinear(_ primitive: TaskEvent.Primitive, drains: Bool) {
        let ratio =
            Double(visits(of: 4_000, in: primitive, drains: drains))
            / Double(visits(of: 1_000, in: primitive, drains: drains))
        #expect(ratio < 4.1, "linear: 4, quadratic: 16")
    }

    /// Calls that contain each other: each looks only for the call that it is in.
    @Test func aSnapshotOfDeeplyNestedCallsIsNearlyLinear() {
        func visits(_ count: Int) -> Int {
            let events = (0..<count).map {
                event(.started, .began(.running), UInt64($0), in: .retry, owner: nil, task: 1)
            }
            let builder = SnapshotBuilder(books(events, limit: 100_000), at: .seconds(1))
            #expect(builder.make().others.count == 1)
            return builder.visits.count
        }
        #expect(Double(visits(800)) / Double(visits(200)) < 8, "linear: 4, quadratic: 16")
    }

    @Test func manySubjectsLeaveNothing() {
        var books = TrackerStateMachine(limit: 10)
        for number in 1...fullSize(100_000, inDebug: 20_000) {
            let id = UInt64(number)
            books.receive(event(.started, .began(.waiting), id, in: .singleFlight, owner: Identity(id), task: 3))
            books.receive(event(.completed, .ended(.completed), id, in: .singleFlight, owner: Identity(id)))
        }
        #expect(books.subjects.isEmpty && books.owners.isEmpty && books.omitted == 0)
        #expect(books.owners.capacity < 100 && books.subjects.capacity < 100)
    }
}
