import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct PollSimulationTests {
    /// A job that is done after a random time, calls that take a random time, and a limit: the value if a call that begins before the limit sees it
    /// in time, otherwise the error with the last value, and never later than the limit.
    @Test func aPollEndsWithTheValueOrAtTheLimit() throws {
        try simulate(seeds: Schedules.seeds(5_000, inDebug: 200)) { sim in
            let done = Duration.seconds(sim.draw(0..<60))
            let limit = Duration.seconds(sim.draw(1..<60))
            let call = Duration.milliseconds(sim.draw(0..<4_000))
            var calls: [Duration] = []
            do {
                let seen = try await poll(every: .fixed(.seconds(5)), within: limit) {
                    calls.append(sim.now)
                    let seen = sim.now
                    try await Task.sleep(for: call)
                    return seen
                } until: {
                    $0 >= done
                }
                sim.expect(seen >= done && sim.now <= limit, "a value came late")
            } catch {
                guard let error = error as? PollTimeoutError else {
                    return sim.expect(false, "\(error)")
                }
                sim.expect(sim.now <= limit, "the poll took longer than its limit")
                // The last call was cut off at the limit, or the next one would have begun after it.
                sim.expect(sim.now == limit || sim.now + .seconds(5) >= limit, "the poll ended early")
                sim.expect(error.calls == calls.count || error.calls == calls.count - 1 && sim.now == limit)
                if error.calls > 0 {
                    sim.expect(error.lastValue as? Duration == calls[error.calls - 1] && error.lastError == nil)
                }
            }
            for (time, next) in zip(calls, calls.dropFirst()) { sim.expect(next - time == call + .seconds(5)) }
            sim.expect(calls.allSatisfy { $0 < limit }, "a call began at the limit")
        }
    }

    /// Cancelled at any point: the running call has ended when the poll returns, and the caller receives a cancellation or the value.
    @Test func aCancellationAtAnyPointEndsThePoll() throws {
        try simulate(seeds: Schedules.seeds(5_000, inDebug: 200)) { sim in
            let running = OrderRecorder<Int>()
            let caller = Task {
                var calls = 0
                return try await poll(every: .fixed(.seconds(1)), within: .seconds(5)) {
                    running.record(1)
                    defer { running.record(-1) }
                    calls += 1
                    try await Task.sleep(for: .seconds(1))
                    return calls
                } until: {
                    $0 == 2
                }
            }
            sim.cancelAtAnyPoint(caller)
            let outcome = await caller.result
            sim.expect(running.events.reduce(0, +) == 0, "a call still runs")
            switch outcome {
            case .success(let value): sim.expect(value == 2 && sim.now == .seconds(3))
            case .failure(let error): sim.expect(error is CancellationError, "\(error)")
            }
        }
    }

    /// The deadline of the caller: no call that would begin after it, and the error of the poll if it is known before.
    @Test func theDeadlineOfTheCallerEndsAPollWithoutALimit() throws {
        try simulate(seeds: Schedules.seeds(1_000, inDebug: 100)) { sim in
            let call = Duration.seconds(sim.draw(0..<3))
            var calls = 0
            do {
                try await withDeadline(in: .seconds(10)) {
                    _ = try await poll(every: .fixed(.seconds(4))) {
                        calls += 1
                        try await Task.sleep(for: call)
                        return calls
                    } until: { _ in
                        false
                    }
                }
                sim.expect(false, "the condition never holds")
            } catch {
                let error = error as? PollTimeoutError
                // Calls at 0, 4, 8 s, or 0, 5 s (ends at 6, the next at 10), or 0, 6 s.
                sim.expect(error?.calls == (call == .zero ? 3 : 2), "\(calls)")
                sim.expect(error?.lastValue as? Int == error?.calls)
                sim.expect(sim.now < .seconds(10), "the delay began")
            }
        }
    }

    /// A call that hangs is cancelled at the limit, and the error has the value of the call before it.
    @Test func aCallThatHangsIsEndedByTheLimit() throws {
        try simulate(seeds: Schedules.seeds(1_000, inDebug: 100)) { sim in
            var calls = 0
            do {
                _ = try await poll(every: .fixed(.seconds(1)), within: .seconds(10)) {
                    calls += 1
                    if calls == 3 { try await Task.sleep(for: .seconds(1_000)) }
                    return calls
                } until: { _ in
                    false
                }
                sim.expect(false, "the condition never holds")
            } catch {
                let error = error as? PollTimeoutError
                sim.expect(sim.now == .seconds(10))
                sim.expect(error?.calls == 2 && error?.lastValue as? Int == 2 && error?.lastError == nil)
            }
        }
    }

    /// Without a delay and without a suspension in the operation, other tasks run all the same.
    @Test func aPollWithoutDelaysLetsOtherTasksRun() throws {
        try simulate(seeds: Schedules.seeds(500, inDebug: 50)) { sim in
            let flag = OrderRecorder<Int>()
            let other = Task { flag.record(1) }
            let value = try await poll(every: .none) {
                flag.events.count
            } until: {
                $0 == 1
            }
            sim.expect(value == 1)
            await other.value
        }
    }
}

extension Simulation {
    fileprivate func draw(_ range: Range<Int>) -> Int {
        var random = random
        return Int.random(in: range, using: &random)
    }
}
