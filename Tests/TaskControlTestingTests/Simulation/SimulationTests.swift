import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// A seed that fails, as the error that it throws.
func failure(
    seed: UInt64 = 1,
    strategy: Simulation.Strategy = .random,
    maxSteps: Int = 100_000,
    checksDeterminism: Bool = false,
    _ body: @escaping @isolated(any) @Sendable (Simulation) async throws -> Void
) -> Simulation.Failure? {
    do {
        try simulate(
            seed: seed,
            strategy: strategy,
            maxSteps: maxSteps,
            checksDeterminism: checksDeterminism,
            body
        )
        return nil
    } catch {
        return error as? Simulation.Failure
    }
}

actor Counter {
    private(set) var value = 0

    func add(_ other: Int) { value += other }
}

/// The error of a poll whose condition has not held in time.
private struct NeverHeld: Error {}

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct PollingTests {
    /// The helper of most test suites.
    private static func eventually(
        within limit: Duration = .seconds(1),
        _ condition: @Sendable () async -> Bool
    ) async throws {
        let end = ContinuousClock.now + limit
        while !(await condition()) {
            if ContinuousClock.now > end { throw NeverHeld() }
            await Task.yield()
        }
    }

    private static let strategies: [Simulation.Strategy] = [
        .inOrder, .random, .swarm, .pct(depth: 3), .partialOrder, .random.withSlowness(), .random.withEarlyStarts(),
    ]

    @Test(arguments: strategies) func aPollSeesTheEndOfASleep(strategy: Simulation.Strategy) throws {
        try simulate(seeds: 0..<20, strategy: strategy) { sim in
            let counter = Counter()
            Task {
                try await Task.sleep(for: .milliseconds(5))
                await counter.add(1)
            }
            try await Self.eventually(within: .seconds(60)) { await counter.value == 1 }
            sim.expect(sim.now >= .milliseconds(5))
        }
    }

    @Test func aPollByTheTimeOfTheSimulationSeesTheEndOfASleep() throws {
        try simulate(seeds: 0..<20) { sim in
            let counter = Counter()
            Task {
                try await Task.sleep(for: .milliseconds(5))
                await counter.add(1)
            }
            while sim.now < .seconds(1), await counter.value == 0 { await Task.yield() }
            sim.expect(await counter.value == 1)
        }
    }

    @Test func aPollWithoutYieldsSeesTheEndOfASleep() throws {
        try simulate(seeds: 0..<20) { _ in
            let counter = Counter()
            Task {
                try await Task.sleep(for: .milliseconds(5))
                await counter.add(1)
            }
            while await counter.value == 0 {}
        }
    }

    @Test func aPollWithADeadlineEndsAlthoughNothingSleeps() throws {
        try simulate(seeds: 0..<20) { sim in
            await #expect(throws: NeverHeld.self) { try await Self.eventually { false } }
            let clock = SuspendingClock()
            let end = clock.now + .seconds(1)
            while clock.now < end { await Task.yield() }
            let later = sim.now + .seconds(1)
            while sim.now < later { await Task.yield() }
        }
    }

    @Test func aSleepBesideAPollEndsAtItsTime() throws {
        try simulate(seeds: 0..<20, strategy: .random) { sim in
            let polling = Task { while !Task.isCancelled { await Task.yield() } }
            for second in 1...3 {
                try await Task.sleep(for: .seconds(1))
                sim.expect(sim.now == .seconds(second))
            }
            polling.cancel()
        }
    }

    @Test func workThatGoesToAnActorAThousandTimesIsNotLate() throws {
        try simulate(seeds: 0..<20, strategy: .random) { _ in
            let counter = Counter()
            try await withTimeout(.milliseconds(100)) { for _ in 0..<1_000 { await counter.add(1) } }
        }
    }

    @Test func aTickIsNotEarlyByTheTimeOfTheSimulationHoweverOftenTheClockIsRead() throws {
        try simulate(seed: 1) { sim in
            let clock = ContinuousClock()
            let start = clock.now
            for tick in 1...500 {
                for _ in 0..<10 { _ = clock.now }
                try await clock.sleep(until: start + .milliseconds(tick))
                sim.expect(sim.now >= .milliseconds(tick), "tick \(tick) is not early")
            }
        }
    }

    @Test func aLivelockNamesTheSleeperAndItsTime() throws {
        let failure = try #require(
            failure(maxSteps: 100) { _ in
                Task(name: "sleeper") { try await Task.sleep(for: .milliseconds(5)) }
                while true { await Task.yield() }
            }
        )
        #expect("\(failure)".contains("#1 sleeper (created by #0 body) sleeps until 5.000 ms"), "\(failure)")
    }

    @Test func onlyYieldsWithoutATimerAreALivelock() throws {
        let failure = try #require(
            failure(maxSteps: 5_000) { _ in
                let counter = Counter()
                while await counter.value == 0 { await Task.yield() }
            }
        )
        guard case .livelock(5_000) = failure.reason else { Issue.record("\(failure)"); return }
    }
}

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct VirtualTimeTests {
    @Test func everySpellingOfSleepIsVirtual() throws {
        let run = try simulate(seed: 1) { sim in
            let hour = Duration.seconds(3_600)
            try await Task.sleep(for: hour)
            sim.expect(sim.now == hour * 1)
            try await Task.sleep(nanoseconds: 3_600_000_000_000)
            sim.expect(sim.now == hour * 2)
            try await Task.sleep(until: .now + hour)
            sim.expect(sim.now == hour * 3)
            try await Task.sleep(until: .now + hour, clock: .suspending)
            sim.expect(sim.now == hour * 4)
            try await ContinuousClock().sleep(for: hour)
            sim.expect(sim.now == hour * 5)
            try await SuspendingClock().sleep(until: .now + hour)
            sim.expect(sim.now == hour * 6)
            try await sleepOnTheMainActor(hour)
            sim.expect(sim.now == hour * 7)
            try await Sleeper().sleep(hour)
            sim.expect(sim.now == hour * 8)
            try await Task.detached { try await Task.sleep(for: hour) }.value
            sim.expect(sim.now == hour * 9)
        }
        #expect(run.elapsed == .seconds(9 * 3_600))
    }

    @MainActor private func sleepOnTheMainActor(_ duration: Duration) async throws {
        try await Task.sleep(for: duration)
        MainActor.assertIsolated()
    }

    private actor Sleeper {
        func sleep(_ duration: Duration) async throws { try await Task.sleep(for: duration) }
    }

    @Test func clocksShowVirtualTimeAndOneNanosecondPerRead() throws {
        try simulate(seed: 1) { sim in
            let (continuous, suspending) = (ContinuousClock.now, SuspendingClock.now)
            try await Task.sleep(for: .seconds(5))
            sim.expect(continuous.duration(to: .now), equals: .nanoseconds(5_000_000_003))
            sim.expect(suspending.duration(to: .now), equals: .nanoseconds(5_000_000_003))
            sim.expect(sim.now, equals: .seconds(5))
        }
    }

    /// A rate that divides by an elapsed time never divides by zero, as on a real machine.
    @Test func twoReadsOfAClockDiffer() throws {
        try simulate(seeds: 0..<50) { sim in
            let clock = ContinuousClock()
            let start = clock.now
            sim.expect(clock.now > start)
            let date = Date()
            sim.expect(Date() > date)
            let beforeYield = clock.now
            await Task.yield()
            sim.expect(beforeYield.duration(to: clock.now) > .zero)
            sim.expect(sim.now, equals: .zero)
        }
    }

    /// The nanoseconds of the reads between the computation of a deadline and the sleep must not decide which task wakes first.
    @Test func sleepsUntilOneDeadlineEndTogetherAndNeverEarly() throws {
        let orders = OrderRecorder<[Int]>()
        try simulate(seeds: 0..<100) { sim in
            let order = OrderRecorder<Int>()
            let deadline = ContinuousClock.now + .seconds(1)
            await withTaskGroup { group in
                for number in 0..<3 {
                    group.addTask {
                        for _ in 0..<number { _ = ContinuousClock.now }
                        try? await Task.sleep(until: deadline, clock: .continuous)
                        sim.expect(ContinuousClock.now >= deadline)
                        sim.expect(sim.now, equals: .seconds(1))
                        order.record(number)
                    }
                }
            }
            orders.record(order.events)
        }
        #expect(Set(orders.events).count == 6)
    }

    @Test func timeStandsStillWhileAnythingCanRun() throws {
        try simulate(seeds: 0..<50) { sim in
            let sleeper = Task { try await Task.sleep(for: .nanoseconds(1)) }
            for _ in 0..<100 { await Task.yield() }
            sim.expect(sim.now == .zero)
            try await sleeper.value
        }
    }

    @Test func sleepersWakeInTheOrderOfTheirDeadlines() throws {
        try simulate(seeds: 0..<50) { sim in
            let order = OrderRecorder<Int>()
            await withTaskGroup { group in
                for number in [5, 3, 1, 4, 2] {
                    group.addTask {
                        try? await Task.sleep(for: .seconds(number))
                        order.record(number)
                    }
                }
            }
            sim.expect(order.events == [1, 2, 3, 4, 5])
        }
    }

    @Test func aSleepThatIsCancelledEndsAtOnce() throws {
        try simulate(seeds: 0..<50) { sim in
            let task = Task { try await Task.sleep(for: .seconds(3_600)) }
            await Task.yield()
            task.cancel()
            _ = await task.result
            sim.expect(sim.now == .zero)
        }
    }

    /// Beyond the range of nanoseconds.
    @Test func aSleepForEverEndsAtTheEndOfTime() throws {
        try simulate(seed: 1) { sim in
            let task = Task { try await Task.sleep(for: .seconds(Int64.max / 2)) }
            try await Task.sleep(for: .seconds(1_000_000))
            sim.expect(sim.now == .seconds(1_000_000))
            task.cancel()
        }
    }
}

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct ScheduleTests {
    @Sendable private static func program(_ sim: Simulation) async {
        let counter = Counter()
        await withTaskGroup { group in
            for number in 0..<10 {
                group.addTask {
                    await counter.add(number)
                    try? await Task.sleep(for: .milliseconds(number % 3))
                    await counter.add(number)
                }
            }
        }
    }

    @Test(arguments: [Simulation.Strategy.random, .pct(depth: 3)])
    func oneSeedHasOneSchedule(strategy: Simulation.Strategy) throws {
        let runs = try (0..<1_000).map { _ in try simulate(seed: 42, strategy: strategy) { await Self.program($0) } }
        #expect(Set(runs).count == 1)
    }

    @Test(arguments: [Simulation.Strategy.random, .pct(depth: 3)])
    func differentSeedsHaveDifferentSchedules(strategy: Simulation.Strategy) throws {
        let runs = try (0..<1_000).map { try simulate(seed: $0, strategy: strategy) { await Self.program($0) } }
        #expect(Set(runs.map(\.fingerprint)).count > 990)
    }

    @Test func everyOrderOfThreeTasksComesUp() throws {
        for strategy in [Simulation.Strategy.random, .pct(depth: 2)] {
            let orders = OrderRecorder<[Int]>()
            try simulate(seeds: 0..<200, strategy: strategy) { _ in
                let order = OrderRecorder<Int>()
                let tasks = (0..<3).map { number in Task { order.record(number) } }
                for task in tasks { await task.value }
                orders.record(order.events)
            }
            #expect(Set(orders.events).count == 6)
        }
    }

    @Test func everyWayToMakeATaskIsInTheSimulation() throws {
        try simulate(seeds: 0..<50) { sim in
            let counter = Counter()
            await Task { await counter.add(1) }.value
            await Task.detached { await counter.add(1) }.value
            await Task { @MainActor in
                MainActor.assertIsolated()
                await counter.add(1)
            }.value
            async let child: Void = counter.add(1)
            await child
            await withTaskGroup { group in group.addTask { await counter.add(1) } }
            if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) {
                await withDiscardingTaskGroup { group in group.addTask { await counter.add(1) } }
            } else {
                await counter.add(1)
            }
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                await Task.immediate { await counter.add(1) }.value
            } else {
                await counter.add(1)
            }
            let stream = AsyncStream { continuation in
                Task {
                    for _ in 0..<3 { continuation.yield(1) }
                    continuation.finish()
                }
            }
            for await value in stream { await counter.add(value) }
            sim.expect(await counter.value == 10)
        }
    }

    @Test func theBodyMayBeOnTheMainActor() throws {
        try simulate(seeds: 0..<20) { @MainActor sim in
            MainActor.assertIsolated()
            await Task.yield()
            try await Task.sleep(for: .seconds(1))
            MainActor.assertIsolated()
            sim.expect(sim.now == .seconds(1))
        }
    }

    @TaskLocal private static var word = "none"

    @Test func taskLocalsOfTheCallerReachTheBody() throws {
        try Self.$word.withValue("mine") {
            try simulate(seed: 1) { sim in
                sim.expect(Self.word == "mine")
                sim.expect(await Task { Self.word }.value == "mine")
            }
        }
    }

    @Test func randomNumbersAreTheSeeds() throws {
        func numbers(_ seed: UInt64) throws -> [UInt64] {
            let numbers = OrderRecorder<UInt64>()
            try simulate(seed: seed) { sim in
                var random = sim.random
                for _ in 0..<3 { numbers.record(random.next()) }
            }
            return numbers.events
        }
        #expect(try numbers(1) == numbers(1))
        #expect(try numbers(1) != numbers(2))
    }

    /// From all moments before the task starts to after it has ended.
    @Test func cancelAtAnyPointCancelsAtEveryMoment() throws {
        let seen = OrderRecorder<Int>()
        try simulate(seeds: 0..<300) { sim in
            let steps = OrderRecorder<Int>()
            let task = Task {
                for step in 0..<5 where !Task.isCancelled {
                    steps.record(step)
                    await Task.yield()
                }
            }
            sim.cancelAtAnyPoint(task)
            await task.value
            seen.record(steps.events.count)
        }
        #expect(Set(seen.events) == [0, 1, 2, 3, 4, 5])
    }

    /// A task that waits only for the action is not in a deadlock.
    @Test func anActionAtAnyPointRunsBeforeTheEnd() throws {
        try simulate(seeds: 0..<100) { sim in
            let gate = Gate()
            sim.atAnyPoint { gate.open() }
            await gate.waitIgnoringCancellation()
        }
    }
}

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct SimulationFailureTests {
    private struct Broken: Error {}

    @Test func anErrorOfTheBodyEndsTheSeed() throws {
        let failure = try #require(failure { _ in throw Broken() })
        guard case .threw(let error) = failure.reason else { Issue.record("\(failure)"); return }
        #expect(error is Broken && failure.seed == 1)
    }

    @Test func anExpectationInAnyTaskEndsTheSeed() throws {
        let after = OrderRecorder<Int>()
        let failure = try #require(
            failure { sim in
                let task = Task { sim.expect(1 == 2, "one is two") }
                await task.value
                after.record(1)
            }
        )
        guard case .expectation("one is two", let place) = failure.reason else {
            Issue.record("\(failure)")
            return
        }
        #expect(place.filePath == #filePath && place.fileID == #fileID && place.line > 0)
        #expect(failure.description.contains("\(place): expected: one is two"))
    }

    @Test func theFirstSeedThatFailsIsTheOneThatIsReported() throws {
        let ran = OrderRecorder<UInt64>()
        do {
            try simulate(seeds: 0..<100, strategy: .random) { sim in
                ran.record(sim.seed)
                sim.expect(sim.seed < 7)
            }
            Issue.record("seed 7 fails")
        } catch let failure as Simulation.Failure {
            #expect(failure.seed == 7)
            #expect(failure.description.contains("simulate(seed: 7, strategy: .random)"))
            #expect(failure.description.contains("\(failure.location)"))
        }
        #expect(ran.events == Array(0...7))
    }

    @Test func aDeadlockSaysWhoWaitsForWhom() throws {
        let failure = try #require(
            failure { _ in
                let lost = Task(name: "lost") {
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
                let loader = Task(name: "loader") { await lost.value }
                async let child: Void = loader.value
                await child
            }
        )
        guard case .deadlock = failure.reason else { Issue.record("\(failure)"); return }
        #expect(failure.description.contains("#1 lost (created by #0 body) waits for a continuation to be resumed\n"))
        #expect(failure.description.contains("#2 loader (created by #0 body) waits for #1 lost\n"))
    }

    @Test func whatHasLostItsContinuationIsLeftBehind() throws {
        let failure = try #require(
            failure { _ in
                Task { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
            }
        )
        guard case .leftBehind(1) = failure.reason else { Issue.record("\(failure)"); return }
    }

    @Test func whatIsLeftBehindAndSleepsMayEnd() throws {
        let ended = OrderRecorder<Duration>()
        try simulate(seed: 1) { sim in
            Task {
                try await Task.sleep(for: .seconds(60))
                ended.record(sim.now)
            }
        }
        #expect(ended.events == [.seconds(60)])
    }

    @Test func whatGoesRoundAndRoundIsALivelock() throws {
        let spinning = try #require(
            failure(maxSteps: 1_000) { _ in while !Task.isCancelled { await Task.yield() } }
        )
        guard case .livelock(1_000) = spinning.reason else { Issue.record("\(spinning)"); return }
        let polling = try #require(
            failure(maxSteps: 1_000) { _ in
                Task { while !Task.isCancelled { try? await Task.sleep(for: .seconds(1)) } }
            }
        )
        guard case .livelock(1_000) = polling.reason else { Issue.record("\(polling)"); return }
    }

    @Test func whatTheSeedDoesNotDecideIsFoundByRunningTwice() throws {
        let runs = OrderRecorder<Int>()
        let failure = try #require(
            failure(checksDeterminism: true) { _ in
                runs.record(1)
                for _ in 0..<runs.events.count { await Task.yield() }
            }
        )
        guard case .nondeterministic = failure.reason else { Issue.record("\(failure)"); return }
        try simulate(seeds: 0..<20, checksDeterminism: true) { _ in await Task.yield() }
    }

    /// Recorded by `#require`, thrown on as it is, so not recorded again.
    @Test func anErrorOfRequireIsThrownOnAsItIs() throws {
        try withKnownIssue {
            try simulate(seed: 1) { _ in _ = try #require(nil as Int?) }
        } matching: { issue in
            issue.error == nil && !"\(issue)".contains("Simulation.Failure")
        }
    }

    @Test func theScheduleTellsTheLastSteps() throws {
        let failure = try #require(
            failure { sim in
                let one = Task(name: "one") { try await Task.sleep(for: .milliseconds(1_500)) }
                try await one.value
                sim.note("after one")
                throw Broken()
            }
        )
        #expect(failure.description.contains("0.000 ms  #1 one sleeps until 1500.000 ms"))
        #expect(failure.description.contains("0.000 ms  #0 body waits for #1 one"))
        #expect(failure.description.contains("1500.000 ms  #1 one ended"))
        #expect(failure.description.contains("“after one”, by #0 body"))
    }
}
