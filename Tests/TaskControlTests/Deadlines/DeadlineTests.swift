import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct DeadlineTests {
    private let clock = TestClock()

    @Test func anOperationThatEndsInTimeReturnsItsValue() async throws {
        let value = try await withDeadline(in: .seconds(1), clock: clock) { 7 }
        #expect(value == 7)
        await #expect(throws: MarkedError("no")) {
            try await withDeadline(in: .seconds(1), clock: clock) { throw MarkedError("no") }
        }
        #expect(Task.currentDeadline == nil)
    }

    @Test func anOperationIsCancelledAtItsDeadlineAndAwaited() async throws {
        let (ended, begun) = (Locked(false), Gate())
        let caller = Task {
            try await withDeadline(in: .seconds(2), clock: clock) {
                begun.open()
                do { try await Gate().wait() } catch {
                    ended.withLock { $0 = true }
                    throw error
                }
            }
        }
        try await begun.wait()
        try await clock.waitForSleepers(count: 1)
        await clock.advance(by: .seconds(2))
        await #expect(throws: DeadlineExceededError.self) { try await caller.value }
        #expect(ended.withLock { $0 })
    }

    @Test func aDeadlineThatHasPassedBeginsNothing() async {
        for duration in [Duration.zero, .seconds(-1)] {
            await #expect(throws: DeadlineExceededError.self) {
                try await withDeadline(in: duration, clock: clock) { Issue.record("begun") }
            }
        }
        let instant = clock.now
        await clock.advance(by: .seconds(1))
        await #expect(throws: DeadlineExceededError.self) {
            try await withDeadline(instant, clock: clock) { Issue.record("begun") }
        }
    }

    @Test func theEarlierOfTwoDeadlinesCounts() async throws {
        try await withDeadline(in: .seconds(2), clock: clock) {
            try await clock.waitForSleepers(count: 1)
            #expect(Task.currentDeadline?.remaining == .seconds(2))
            // A later one changes nothing, and has no timer.
            try await withDeadline(in: .seconds(3), clock: clock) {
                #expect(Task.currentDeadline?.remaining == .seconds(2))
                #expect(clock.sleeperCount == 1)
            }
            try await withDeadline(in: .seconds(1), clock: clock) {
                try await clock.waitForSleepers(count: 2)
                #expect(Task.currentDeadline?.remaining == .seconds(1))
            }
            #expect(Task.currentDeadline?.remaining == .seconds(2))
        }
    }

    @Test func anInnerOperationOfAnOuterDeadlineFailsWithThatOfTheOuter() async throws {
        let begun = Gate()
        let caller = Task {
            try await withDeadline(in: .seconds(1), clock: clock) {
                try await withDeadline(in: .seconds(2), clock: clock) {
                    begun.open()
                    try await Gate().wait()
                }
            }
        }
        try await begun.wait()
        try await clock.waitForSleepers(count: 1)
        await clock.advance(by: .seconds(1))
        await #expect(throws: DeadlineExceededError.self) { try await caller.value }
    }

    @Test func aTimeLimitInsideKeepsItsError() async throws {
        let caller = Task {
            try await withDeadline(in: .seconds(2), clock: clock) {
                try await withTimeout(.seconds(1), clock: clock) { try await Gate().wait() }
            }
        }
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(1))
        await #expect(throws: TimeoutError(duration: .seconds(1))) { try await caller.value }
    }

    @Test func aTimeoutErrorOfTheOperationItselfIsNotThatOfTheDeadline() async throws {
        let error = TimeoutError(duration: .seconds(1))
        await #expect(throws: error) { try await withDeadline(in: .seconds(2), clock: clock) { throw error } }
    }

    @Test func aClockThatCannotSleepIsNoCancellation() async throws {
        let gate = Gate()
        await #expect(throws: BrokenClock.Broken.self) {
            try await withDeadline(in: .seconds(2), clock: BrokenClock()) { try await gate.wait() }
        }
        #expect(!Task.isCancelled)
    }

    @Test func tasksInsideInheritTheDeadlineAndDetachedOnesDoNot() async throws {
        let (bag, queue, clock) = (TaskBag(), FIFOQueue(), clock)
        try await withDeadline(in: .seconds(1), clock: clock) {
            async let child = Task.currentDeadline != nil
            let isInherited = await Task { Task.currentDeadline != nil }.value
            let isQueued = await queue.addTask { Task.currentDeadline != nil }.value
            let isOwned = Locked(false)
            bag.addTask { isOwned.withLock { $0 = Task.currentDeadline != nil } }
            try await bag.drain()
            let isDetached = await Task.detached { Task.currentDeadline == nil }.value
            #expect(await child && isInherited && isQueued && isOwned.withLock { $0 } && isDetached)
            let isRemoved = await withoutDeadline { Task.currentDeadline == nil }
            #expect(isRemoved && Task.currentDeadline != nil)
        }
    }

    @Test func aFlightHasTheLatestDeadlineAndEachCallerLeavesAtItsOwn() async throws {
        let (flights, begun, gate, clock) = (SingleFlight<Int, Bool>(), Gate(), Gate(), clock)
        func call() async throws -> Bool {
            try await flights.value(for: 1) {
                #expect(Task.currentDeadline?.remaining == .seconds(1), "only the first caller is there")
                begun.open()
                try await gate.wait()
                let isLatest = Task.currentDeadline?.remaining == .seconds(1)
                let isInherited = await Task { Task.currentDeadline?.remaining == .seconds(1) }.value
                return isLatest && isInherited
            }
        }
        let first = Task { try await withDeadline(in: .seconds(1), clock: clock) { try await call() } }
        try await begun.wait()
        let second = Task { try await withDeadline(in: .seconds(2), clock: clock) { try await call() } }
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(1))
        await #expect(throws: DeadlineExceededError.self) { try await first.value }
        gate.open()
        #expect(try await second.value)
    }

    @Test func aCallerWithoutADeadlineTakesThatOfTheFlight() async throws {
        let (flights, begun, gate, clock) = (SingleFlight<Int, Bool>(), Gate(), Gate(), clock)
        func call() async throws -> Bool {
            try await flights.value(for: 1) {
                begun.open()
                try await gate.wait()
                return Task.currentDeadline == nil
            }
        }
        try await EventLog.recording { recorder in
            let first = Task { try await withDeadline(in: .seconds(1), clock: clock) { try await call() } }
            try await begun.wait()
            let second = Task { try await call() }
            try await recorder.wait { $0.named("SingleFlight.joined").count == 1 }
            gate.open()
            #expect(try await first.value)
            #expect(try await second.value)
        }
    }

    @Test func aFlightThatGoesOnWithoutCallersHasNoDeadline() async throws {
        let flights = SingleFlight<Int, Bool>(whenAbandoned: .finish)
        let hasNone = try await withDeadline(in: .seconds(1), clock: clock) {
            try await flights.value(for: 1) { Task.currentDeadline == nil }
        }
        #expect(hasNone)
    }

    @Test func aLaterDeadlineInsideAFlightChangesNothing() async throws {
        let (flights, clock) = (SingleFlight<Int, Bool>(), clock)
        let isEarliest = try await withDeadline(in: .seconds(5), clock: clock) {
            try await flights.value(for: 1) {
                try await withDeadline(in: .seconds(3), clock: clock) {
                    try await withDeadline(in: .seconds(10), clock: clock) {
                        Task.currentDeadline?.remaining == .seconds(3)
                    }
                }
            }
        }
        #expect(isEarliest)
    }

    @Test func aFlightInsideAFlightHasTheDeadlineOfThatAsItMoves() async throws {
        let (outer, inner) = (SingleFlight<Int, Bool>(), SingleFlight<Int, Bool>())
        let (begun, gate, clock) = (Gate(), Gate(), clock)
        func call() async throws -> Bool {
            try await outer.value(for: 1) {
                try await inner.value(for: 2) {
                    begun.open()
                    try await gate.wait()
                    return Task.currentDeadline?.remaining == .seconds(10)
                }
            }
        }
        try await EventLog.recording { recorder in
            let first = Task { try await withDeadline(in: .seconds(1), clock: clock) { try await call() } }
            try await begun.wait()
            let second = Task { try await withDeadline(in: .seconds(10), clock: clock) { try await call() } }
            try await recorder.wait { $0.named("SingleFlight.joined").count == 1 }
            gate.open()
            #expect(try await first.value)
            #expect(try await second.value)
        }
    }

    /// Each of many callers joins a long flight from inside a flight of its own, and leaves.
    @Test func aFlightForgetsTheDeadlinesOfCallersWhoseFlightsHaveEnded() async throws {
        let (flights, gate) = (SingleFlight<Int, Int>(), Gate())
        let long = Task {
            try await withDeadline(in: .seconds(1_000)) {
                try await flights.value(for: 0) {
                    try await gate.wait()
                    return Deadline.local?.latest?.changingCount ?? -1
                }
            }
        }
        try await gate.waitForWaiters()
        for number in 1...200 {
            let caller = Task {
                try await withDeadline(in: .seconds(2_000)) {
                    try await flights.value(for: number) { try await flights.value(for: 0) { 0 } }
                }
            }
            try await wait(forBooksOf: flights._flights.source.number) { 3 - flights._flights.callerCount }
            caller.cancel()
            _ = await caller.result
            try await wait(forBooksOf: flights._flights.source.number) { flights._flights.liveCount - 1 }
        }
        gate.open()
        #expect(try await long.value < 20)
    }

    @Test func aDeadlineInsideAFlightIsKeptWhenThatOfTheFlightMoves() async throws {
        let (flights, begun, clock) = (SingleFlight<Int, Void>(), Gate(), clock)
        func call() async throws {
            try await flights.value(for: 1) {
                try await withDeadline(in: .seconds(2), clock: clock) {
                    begun.open()
                    try await Gate().wait()
                }
            }
        }
        try await EventLog.recording { recorder in
            let first = Task { try await withDeadline(in: .seconds(1), clock: clock) { try await call() } }
            try await begun.wait()
            let second = Task { try await withDeadline(in: .seconds(10), clock: clock) { try await call() } }
            try await recorder.wait { $0.named("SingleFlight.joined").count == 1 }
            try await clock.waitForSleepers(count: 3)
            await clock.advance(by: .seconds(1))
            await #expect(throws: DeadlineExceededError.self) { try await first.value }
            await clock.advance(by: .seconds(1))
            await #expect(throws: DeadlineExceededError.self) { try await second.value }
            #expect(clock.now.offset == .seconds(2))
        }
    }

    @Test func aCancelledCallerReceivesACancellation() async throws {
        let begun = Gate()
        let caller = Task {
            try await withDeadline(in: .seconds(1), clock: clock) {
                begun.open()
                do { try await Gate().wait() } catch { throw MarkedError("in its words") }
            }
        }
        try await begun.wait()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        await #expect(throws: CancellationError.self) {
            try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await withDeadline(in: .seconds(1), clock: clock) { Issue.record("begun") }
            }.value
        }
    }

    @Test func aRetryThatWouldBeginAfterTheDeadlineIsNotMade() async throws {
        let attempts = Locked(0)
        await #expect(throws: MarkedError("1")) {
            try await withDeadline(in: .seconds(1), clock: clock) {
                try await retry(attempts: 3, backoff: .fixed(.seconds(1)), clock: clock) { attempt in
                    attempts.withLock { $0 = attempt }
                    throw MarkedError("\(attempt)")
                }
            }
        }
        #expect(attempts.withLock { $0 } == 1)
        // A retry that begins in time is made.
        let automatic = TestClock(advancesAutomatically: true)
        await #expect(throws: MarkedError("2")) {
            try await withDeadline(in: .seconds(10), clock: clock) {
                try await retry(attempts: 2, backoff: .fixed(.seconds(9)), clock: automatic) { attempt in
                    throw MarkedError("\(attempt)")
                }
            }
        }
    }

    @Test func deadlinesOfTheContinuousClockAreComparedByTheirInstants() {
        let now = ContinuousClock.now
        let (one, other) = (
            Deadline(now, clock: ContinuousClock()), Deadline(now.advanced(by: .seconds(100)), clock: ContinuousClock())
        )
        #expect(one.hasPassed && one.remaining <= .zero && !other.hasPassed && other.remaining > .seconds(1))
        #expect(Deadline.earlier(one, other).hasPassed && Deadline.earlier(other, one).hasPassed)
        #expect(one.description.hasSuffix(" ago") && other.description.hasPrefix("in "))
        // Instants of different clocks are compared by what remains.
        let virtual = Deadline(in: .seconds(1), clock: clock)
        #expect(Deadline.earlier(virtual, other).remaining == .seconds(1))
        #expect(Deadline(in: .seconds(Int64.max)).remaining > .seconds(1_000_000_000))
    }
}
