import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct RetrySimulationTests {
    private struct Failure: Error {
        let ending: RetryProgram.Ending
    }

    private struct Refusal: Error, RetryAdvising {
        let retryAfter: Duration?
    }

    /// Does what a program says, and records it.
    private static func run(_ program: RetryProgram, _ sim: Simulation, _ log: OrderRecorder<RetryProgram.Event>) async
    {
        let start = sim.now
        let budget = program.tokens.map {
            RetryBudget(capacity: $0, cost: RetryProgram.cost, throttledCost: RetryProgram.throttledCost)
        }
        func milliseconds() -> Int { Int((sim.now - start) / .milliseconds(1)) }
        let backoff: RetryBackoff =
            switch program.backoff {
            case .none: .none
            case .fixed(let delay): .fixed(.milliseconds(delay))
            case .exponential(let base, let cap): .exponential(base: .milliseconds(base)).capped(at: .milliseconds(cap))
            case .custom(let delays): .custom { attempt, _ in delays[attempt - 1].map { .milliseconds($0) } }
            }
        var current = 0
        do {
            let value = try await retry(
                attempts: program.attempts,
                backoff: backoff,
                shouldRetry: { error in
                    log.record(.asked(attempt: current))
                    return (error as? Failure)?.ending != .fatal
                },
                budget: budget,
                maxElapsed: program.maxElapsed.map { .milliseconds($0) },
                onRetry: { log.record(.retries(attempt: $0.attempt, after: Int($0.delay / .milliseconds(1)))) },
                operation: { number in
                    current = number
                    log.record(.began(attempt: number, at: milliseconds()))
                    let attempt = program.script[number - 1]
                    try await rest(attempt.milliseconds, isPatient: attempt.isPatient)
                    switch attempt.ending {
                    case .success: return number
                    case .failure, .fatal: throw Failure(ending: attempt.ending)
                    case .throttled: throw Refusal(retryAfter: .milliseconds(attempt.hint))
                    case .cancellation: throw CancellationError()
                    }
                }
            )
            log.record(.returned(value))
        } catch let error as Failure {
            log.record(.threw(error.ending))
        } catch is Refusal {
            log.record(.threw(.throttled))
        } catch {
            log.record(Task.isCancelled ? .cancelled : .threw(.cancellation))
        }
        log.record(.ended(at: milliseconds(), tokens: budget?.available ?? 0))
    }

    /// - Parameter isPatient: Whether it ignores a cancellation.
    private static func rest(_ milliseconds: Int, isPatient: Bool) async throws {
        if milliseconds == 0 { return }
        if isPatient {
            await Task { try? await Task.sleep(for: .milliseconds(milliseconds)) }.value
        } else {
            try await Task.sleep(for: .milliseconds(milliseconds))
        }
    }

    private static func programs(_ seed: UInt64) -> [RetryProgram] {
        var random = SeededGenerator(seed: seed)
        return (0..<3).map { _ in RetryProgram(&random) }
    }

    /// 100 times three programs side by side, under 1,000 schedules each: to the event and to the millisecond.
    @Test func randomProgramsAgreeWithALoop() async throws {
        try await offThePool {
            for number in 0..<100 as Range<UInt64> {
                let programs = Self.programs(number)
                try simulate(seeds: Schedules.seeds(1_000, inDebug: 5)) { sim in
                    await withTaskGroup { group in
                        for (index, program) in programs.enumerated() {
                            group.addTask {
                                let log = OrderRecorder<RetryProgram.Event>()
                                let caller = Task { await Self.run(program, sim, log) }
                                if let cancellation = program.cancellation {
                                    let canceller = Task {
                                        try await Task.sleep(for: .milliseconds(cancellation))
                                        caller.cancel()
                                    }
                                    await caller.value
                                    canceller.cancel()
                                } else {
                                    await caller.value
                                }
                                let expected = program.expected()
                                sim.expect(
                                    log.events == expected,
                                    "program \(number).\(index): \(program)\n\(log.events)\nis \(expected)"
                                )
                            }
                        }
                    }
                }
            }
        }
    }

    /// The same with cancellations between any two steps: what happens is what would have happened, up to a point, and then the end.
    @Test func aCancellationAnywhereCutsAProgramShort() async throws {
        try await offThePool {
            for number in 100..<200 as Range<UInt64> {
                let program = Self.programs(number)[0]
                let whole = program.expected(isCancelled: false)
                try simulate(seeds: Schedules.seeds(1_000, inDebug: 5)) { sim in
                    let log = OrderRecorder<RetryProgram.Event>()
                    let caller = Task { await Self.run(program, sim, log) }
                    sim.cancelAtAnyPoint(caller)
                    await caller.value
                    let events = log.events
                    if events == whole { return }
                    sim.expect(
                        events.dropLast(2).elementsEqual(whole.prefix(events.count - 2))
                            && events.dropLast().last == .cancelled,
                        "program \(number): \(program)\n\(events)\nis cut out of \(whole)"
                    )
                    // The tokens that were taken are the cost of the retries that were made, as far as they have begun.
                    guard let tokens = program.tokens, case .ended(_, let left) = events.last else { return }
                    let made = events.count { if case .began = $0 { true } else { false } } - 1
                    let costs = program.script.prefix(max(made, 0)).map(\.ending.cost)
                    sim.expect(
                        left == tokens - costs.reduce(0, +),
                        "program \(number): \(left) are left in \(events)"
                    )
                }
            }
        }
    }

    // MARK: One budget for many

    /// In an outage, with callers that leave: no more retries than there are tokens for, and no token is lost.
    @Test func manyWhoFailShareABudget() async throws {
        try await race { sim in
            let (budget, made) = (RetryBudget(capacity: 50), OrderRecorder<Int>())
            let calls = (0..<4).map { number in
                Task {
                    try await retry(attempts: 4, backoff: .fixed(.milliseconds(number % 2)), budget: budget) {
                        attempt in
                        if attempt > 1 { made.record(attempt) }
                        await Task.yield()
                        throw MarkedError()
                    }
                }
            }
            sim.cancelAtAnyPoint(calls[0])
            sim.cancelAtAnyPoint(calls[1])
            for (number, call) in calls.enumerated() {
                switch await call.result {
                case .success: sim.expect(false, "nothing succeeds")
                case .failure(let error): sim.expect(error is MarkedError || (number < 2 && error is CancellationError))
                }
            }
            sim.expect(made.count <= 3, "three are paid for, \(made.count) were made")
            sim.expect(budget.available == 50 - 14 * made.count, "\(budget.available) are left of \(made.count)")
        }
    }

    /// A call that succeeds after all gives its last cost back, whichever calls took the rest.
    @Test func manyWhoSucceedGiveBackWhatTheyTook() async throws {
        try await race { sim in
            let (budget, taken) = (RetryBudget(capacity: 60), OrderRecorder<Int>())
            let calls = (0..<4).map { number in
                Task {
                    var retries = 0
                    // Those of odd number are throttled.
                    let cost = number % 2 == 0 ? 14 : 5
                    do {
                        try await retry(attempts: 4, backoff: .none, budget: budget) { attempt in
                            retries = attempt - 1
                            await Task.yield()
                            if attempt <= number + 1 {
                                throw number % 2 == 0 ? MarkedError() : Refusal(retryAfter: .milliseconds(1))
                            }
                        }
                        // At least one retry was made.
                        taken.record((retries - 1) * cost)
                    } catch {
                        taken.record(retries * cost)
                        throw error
                    }
                }
            }
            sim.cancelAtAnyPoint(calls[2])
            for call in calls { _ = await call.result }
            sim.expect(
                budget.available == 60 - taken.events.reduce(0, +),
                "\(budget.available) are left, \(taken.events) were taken"
            )
        }
    }
}

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct RetryConditionSimulationTests {
    /// A condition that is lost and comes back at random times, beside the delay, a limit and a cancellation: no attempt
    /// begins while the condition is not met, except at the moment of a change, and none after the limit.
    @Test func noAttemptBeginsWhileTheConditionIsNotMet() throws {
        try simulate(seeds: Schedules.seeds(10_000, inDebug: 300)) { sim in
            var random = sim.random
            let start = sim.now
            let changes = (0..<4).map { _ in Int.random(in: 1...3, using: &random) }
            let limit = Bool.random(using: &random) ? Duration.seconds(6) : nil
            // The condition is not met in the first interval, met in the second one, and so on; then it is met.
            @Sendable func isMet(at time: Duration) -> Bool {
                var end = Duration.zero
                for (index, change) in changes.enumerated() {
                    end += .seconds(change)
                    if time < end { return index % 2 == 1 }
                }
                return true
            }
            @Sendable func isChange(at time: Duration) -> Bool {
                changes.indices.contains { time == .seconds(changes[0...$0].reduce(0, +)) }
            }
            let caller = Task {
                try await retry(
                    attempts: 4,
                    backoff: .fixed(.seconds(2)),
                    maxElapsed: limit,
                    waitingFor: {
                        AsyncStream { reports in
                            let now = sim.now - start
                            reports.yield(isMet(at: now))
                            let task = Task {
                                for second in 1...20 {
                                    try await Task.sleep(for: .seconds(1))
                                    reports.yield(isMet(at: now + .seconds(second)))
                                }
                            }
                            reports.onTermination = { _ in task.cancel() }
                        }
                    }
                ) { attempt in
                    let now = sim.now - start
                    if attempt > 1 {
                        sim.expect(isMet(at: now) || isChange(at: now), "\(now), \(changes)")
                        if let limit { sim.expect(now <= limit, "\(now)") }
                    }
                    throw MarkedError("\(attempt)")
                }
            }
            if Bool.random(using: &random) { sim.cancelAtAnyPoint(caller) }
            let result = await caller.result
            guard case .failure(let error) = result else { return sim.expect(false) }
            sim.expect(error is MarkedError || error is CancellationError, "\(error)")
        }
    }
}
