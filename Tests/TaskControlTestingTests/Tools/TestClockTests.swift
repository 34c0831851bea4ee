import TaskControlTesting
import TestSupport
import Testing

/// A test on the main actor has its tasks there too: what a task does up to its next suspension comes before time moves on.
@Suite(.timeLimit(.minutes(15)))
struct TestClockTests {
    /// A duration that a program has computed may be enormous.
    @Test func instantsBeyondTheRangeOfADurationAreBounded() async throws {
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999) * 18
        let clock = TestClock()
        await clock.advance(by: .seconds(1))
        for _ in 0..<3 { await clock.advance(by: longest) }
        #expect(clock.now == .init(offset: longest) && clock.now > .zero)
        let earliest = clock.now.advanced(by: .zero - longest).advanced(by: .zero - longest)
        #expect(earliest < .zero && earliest.duration(to: clock.now) > .zero)
        #expect(clock.now.duration(to: earliest) < .zero)
        try await clock.sleep(until: clock.now.advanced(by: longest))
    }

    private struct Wake: Hashable {
        let name: String
        let time: Duration
    }

    @Test @MainActor func sleepersWakeAtTheirDeadlinesAndThenInTheOrderOfTheirCalls() async throws {
        let clock = TestClock()
        let recorder = OrderRecorder<Wake>()
        for (name, deadline) in [("a", 3), ("b", 1), ("c", 2), ("d", 1), ("e", 7), ("f", 3)] {
            Task { @MainActor in
                try await clock.sleep(until: .init(offset: .seconds(deadline)))
                recorder.record(Wake(name: name, time: clock.now.offset))
            }
        }
        try await clock.waitForSleepers(count: 6)
        await clock.advance(by: .seconds(5))
        try recorder.checkOrder([
            Wake(name: "b", time: .seconds(1)), Wake(name: "d", time: .seconds(1)), Wake(name: "c", time: .seconds(2)),
            Wake(name: "a", time: .seconds(3)), Wake(name: "f", time: .seconds(3)),
        ])
        #expect(clock.now.offset == .seconds(5) && clock.sleeperCount == 1)
        await clock.advance(to: .init(offset: .seconds(7)))
        #expect(recorder.events.last == Wake(name: "e", time: .seconds(7)))
    }

    @Test @MainActor func aSleeperThatSleepsAgainIsFoundInTime() async throws {
        let clock = TestClock()
        let recorder = OrderRecorder<Duration>()
        let task = Task { @MainActor in
            while true {
                try await clock.sleep(until: clock.now.advanced(by: .seconds(1)))
                recorder.record(clock.now.offset)
            }
        }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(10))
        try recorder.checkOrder((1...10).map { .seconds($0) })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// Exact on any executor, although `sleep(for:)` measures from the time at which it is called.
    @Test func anAdvanceWaitsForTheSleepsThatItIsToEnd() async throws {
        let clock = TestClock()
        let recorder = OrderRecorder<Duration>()
        let task = Task.detached {
            for _ in 0..<100 {
                try await clock.sleep(for: .seconds(1))
                recorder.record(clock.now.offset)
            }
        }
        await clock.advance(by: .seconds(60), waking: 60)
        await clock.advance(to: .init(offset: .seconds(100)), waking: 40)
        try await task.value
        // The last of a call may see where time arrives; here, that is its deadline.
        try recorder.checkOrder((1...100).map { .seconds($0) })
        #expect(clock.now.offset == .seconds(100))
    }

    @Test @MainActor func timeStandsWhileAnAdvanceWaitsForAnotherSleeper() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let recorder = OrderRecorder<Duration>()
        let task = Task { @MainActor in
            for second in [1, 4, 11] {
                try await clock.sleep(until: .init(offset: .seconds(second)))
                recorder.record(clock.now.offset)
                try await gate.wait()
            }
        }
        let advance = Task { @MainActor in await clock.advance(by: .seconds(10), waking: 2) }
        // The task that advances was resumed before the one that it has woken came here.
        try await gate.waitForWaiters()
        #expect(clock.now.offset == .seconds(1))
        gate.open()
        await advance.value
        #expect(clock.now.offset == .seconds(10) && clock.sleeperCount == 1, "at the third sleep it does not look")
        try recorder.checkOrder([.seconds(1), .seconds(4)])
        await clock.run()
        try await task.value
    }

    @Test func whoIsDueIsWokenAlsoIfThatIsMoreThanTheNumber() async throws {
        for count in [-1, 0, 1, 3] {
            let clock = TestClock()
            let sleepers = (1...3).map { number in Task { try await clock.sleep(for: .seconds(number)) } }
            try await clock.waitForSleepers(count: 3)
            await clock.advance(by: .seconds(3), waking: count)
            #expect(clock.sleeperCount == 0)
            for sleeper in sleepers { try await sleeper.value }
        }
    }

    @Test func aSleeperBeyondTheTargetIsNotWaitedForOrWoken() async throws {
        let clock = TestClock()
        let late = Task { try await clock.sleep(for: .seconds(3)) }
        try await clock.waitForSleepers()
        async let advance: Void = clock.advance(by: .seconds(2), waking: 1)
        try await clock.sleep(until: .init(offset: .seconds(2)))
        await advance
        #expect(clock.now.offset == .seconds(2) && clock.sleeperCount == 1)
        await clock.run()
        try await late.value
    }

    /// Whether the cancellation comes before the call, or while it waits.
    @Test func anAdvanceThatIsCancelledArrives() async throws {
        for _ in 0..<20 {
            let clock = TestClock()
            let advance = Task { await clock.advance(by: .seconds(2), waking: 1) }
            advance.cancel()
            await advance.value
            #expect(clock.now.offset == .seconds(2))
        }
    }

    @Test func oneDeadlineAtATimeNothingIsMissed() async throws {
        let clock = TestClock()
        let recorder = OrderRecorder<Duration>()
        let task = Task.detached {
            for _ in 0..<100 {
                try await clock.sleep(for: .seconds(1))
                recorder.record(clock.now.offset)
            }
        }
        for round in 1...100 {
            try await clock.waitForSleepers()
            await clock.advance(by: .seconds(1))
            try await recorder.waitForEvents(count: round)
        }
        try await task.value
        try recorder.checkOrder((1...100).map { .seconds($0) })
    }

    @Test func aDeadlineThatIsPastIsNotWaitedFor() async throws {
        let clock = TestClock()
        await clock.advance(by: .seconds(2))
        try await clock.sleep(until: .zero)
        try await clock.sleep(until: clock.now)
        try await clock.sleep(for: .seconds(-1))
        #expect(clock.sleeperCount == 0)
    }

    @Test func aSleeperThatIsCancelledLeavesAtOnce() async throws {
        let clock = TestClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0 && clock.now == .zero)
        await clock.advance(by: .seconds(1))
    }

    @Test(arguments: [0, 1]) func whoWasCancelledBeforeDoesNotSleep(seconds: Int) async throws {
        let clock = TestClock()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(seconds))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func whoWaitsForSleepersLeavesWhenCancelled() async {
        let clock = TestClock()
        let task = Task { try await clock.waitForSleepers() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test @MainActor func runGoesOnUntilNobodySleeps() async throws {
        let clock = TestClock()
        let tasks = (1...5).map { number in
            Task { @MainActor in
                for _ in 0..<number { try await clock.sleep(until: clock.now.advanced(by: .seconds(number))) }
            }
        }
        try await clock.waitForSleepers(count: 5)
        await clock.run()
        #expect(clock.now.offset == .seconds(25) && clock.sleeperCount == 0)
        for task in tasks { try await task.value }
        await clock.run()
    }

    @Test func runWaitsForTheSleepsThatItIsToEnd() async throws {
        let clock = TestClock()
        let task = Task.detached {
            for number in 1...10 { try await clock.sleep(for: .seconds(number)) }
        }
        await clock.run(waking: 10)
        #expect(clock.now.offset == .seconds(55))
        try await task.value
    }

    @Test(arguments: [0, .max]) @MainActor func runStopsWhenItsCallerIsCancelled(count: Int) async throws {
        let clock = TestClock()
        let recorder = OrderRecorder<Duration>()
        let ticking = Task { @MainActor in
            while true {
                try await clock.sleep(until: clock.now.advanced(by: .seconds(1)))
                recorder.record(clock.now.offset)
            }
        }
        try await clock.waitForSleepers()
        let running = Task { @MainActor in await clock.run(waking: count) }
        try await recorder.waitForEvents(count: 3)
        running.cancel()
        await running.value
        ticking.cancel()
        _ = await ticking.result
    }

    @Test func aCancelledRunLeavesTimeWhereItIs() async throws {
        let clock = TestClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers()
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await clock.run()
        }.value
        #expect(clock.now == .zero && clock.sleeperCount == 1)
        await clock.run()
        try await sleeper.value
    }

    @Test @MainActor func anAdvanceThatIsOvertakenDoesNotTakeTimeBack() async {
        let clock = TestClock()
        let sleeper = Task { @MainActor in try await clock.sleep(until: .init(offset: .seconds(1))) }
        try? await clock.waitForSleepers()
        // Waits until the sleeper has left its sleep, and is overtaken.
        let one = Task { @MainActor in await clock.advance(by: .seconds(3)) }
        let other = Task { @MainActor in await clock.advance(to: .init(offset: .seconds(10))) }
        await one.value
        await other.value
        _ = await sleeper.result
        #expect(clock.now.offset == .seconds(10))
    }

    /// The task that advances is on the main actor too: what it does before it waits is done when the test looks.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test @MainActor func timeStandsUntilAWokenSleeperHasLeftItsSleep() async throws {
        let (clock, place) = (TestClock(), HeldActor())
        let first = Task { try await place.sleep(until: .init(offset: .seconds(1)), on: clock) }
        let second = Task { try await clock.sleep(until: .init(offset: .seconds(2))) }
        try await clock.waitForSleepers(count: 2)
        place.executor.hold()
        let advance = Task { @MainActor in await clock.advance(by: .seconds(3)) }
        try await place.executor.held.wait()
        #expect(clock.now.offset == .seconds(1) && clock.sleeperCount == 1)
        place.executor.release()
        await advance.value
        try await first.value
        try await second.value
        #expect(clock.now.offset == .seconds(3))
    }

    @Test func aCancelledAdvanceGetsThereAndWakesEverybody() async throws {
        let clock = TestClock()
        let sleepers = (1...5).map { number in Task { try await clock.sleep(for: .seconds(number)) } }
        try await clock.waitForSleepers(count: 5)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await clock.advance(by: .seconds(5))
        }
        await task.value
        #expect(clock.now.offset == .seconds(5))
        for sleeper in sleepers { try await sleeper.value }
    }

    @Test func sleepersCancellationsAndTimeSideBySideLeaveNobodyBehind() async throws {
        let clock = TestClock()
        let sleepers = (0..<200).map { number in Task { try await clock.sleep(for: .seconds(1 + number % 7)) } }
        try await clock.waitForSleepers(count: 200)
        async let cancelling: Void = { for sleeper in sleepers.prefix(100) { sleeper.cancel() } }()
        async let one: Void = clock.advance(by: .seconds(3))
        async let other: Void = clock.advance(by: .seconds(4))
        _ = await (cancelling, one, other)
        await clock.run()
        #expect(clock.sleeperCount == 0)
        for sleeper in sleepers { _ = await sleeper.result }
    }

    // MARK: Jumping

    @Test func aJumpingClockSleepsNoTime() async throws {
        let clock = TestClock(advancesAutomatically: true)
        for hour in 1...100 {
            try await clock.sleep(for: .seconds(3_600))
            #expect(clock.now.offset == .seconds(3_600 * hour))
        }
    }

    @Test func onAJumpingClockNobodyWakesEarlyAndTimeRunsForwards() async throws {
        let clock = TestClock(advancesAutomatically: true)
        await withTaskGroup(of: Void.self) { group in
            for number in 1...50 {
                group.addTask {
                    var last = clock.now
                    for _ in 0..<20 {
                        let deadline = clock.now.advanced(by: .milliseconds(number))
                        try? await clock.sleep(until: deadline)
                        #expect(clock.now >= deadline && deadline >= last)
                        last = clock.now
                    }
                }
            }
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test func aJumpingClockGoesOnAfterACancellation() async throws {
        let clock = TestClock(advancesAutomatically: true)
        for _ in 0..<100 {
            let task = Task { try await clock.sleep(for: .seconds(1)) }
            task.cancel()
            _ = await task.result
            try await clock.sleep(for: .seconds(1))
        }
        #expect(clock.sleeperCount == 0 && clock.now.offset >= .seconds(100))
    }

    /// Time that moves by itself does not make an advance one to the past. That shows now and then only, so it is tried often.
    @Test(.tags(.large)) func anAdvanceBesideAJumpDoesNotTrap() async throws {
        let clock = TestClock(advancesAutomatically: true)
        let jumping = Task { while !Task.isCancelled { try await clock.sleep(for: .seconds(1)) } }
        await Task {
            // Waits for no other task, and so meets more jumps.
            withUnsafeCurrentTask { $0?.cancel() }
            for _ in 0..<fullSize(100_000, inDebug: 20_000) { await clock.advance(by: .zero) }
        }.value
        jumping.cancel()
        _ = await jumping.result
    }

    // MARK: Traps

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func advancingBackwardsTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            await TestClock().advance(by: .seconds(-1))
        }
        #expect(text(result).contains("time does not run backwards. Advance by zero or more"))
    }

    @Test(.oneProcessAtATime) func advancingToWhatIsPastTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let clock = TestClock()
            await clock.advance(by: .seconds(2))
            await clock.advance(to: .init(offset: .seconds(1)))
        }
        #expect(text(result).contains("Advance to now or later"))
    }
    #endif
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension HeldActor {
    fileprivate func sleep(until deadline: TestClock.Instant, on clock: TestClock) async throws {
        try await clock.sleep(until: deadline)
    }
}
