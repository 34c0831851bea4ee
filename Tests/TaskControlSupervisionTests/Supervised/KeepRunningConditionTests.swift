import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

/// `keepRunning(waitingFor:)`.
@Suite(.timeLimit(.minutes(15)))
struct KeepRunningConditionTests {
    /// A condition whose stream is given: it is asked for once.
    private struct Condition {
        let reports: AsyncStream<Bool>
        let input: AsyncStream<Bool>.Continuation
        let ended = Gate()

        init(_ isMet: Bool) {
            (reports, input) = AsyncStream.makeStream()
            input.onTermination = { [ended] _ in ended.open() }
            input.yield(isMet)
        }
    }

    private let lifetime = AsyncLifetime()
    private let clock = TestClock()
    private let begun = OrderRecorder<Duration>()

    /// Work whose first run fails.
    private func work(_ condition: Condition) -> SupervisedWork {
        let (clock, begun) = (clock, begun)
        return lifetime.keepRunning(
            "feed",
            restart: .onFailure,
            backoff: .fixed(.seconds(10)),
            waitingFor: { condition.reports },
            clock: clock
        ) { run in
            begun.record(clock.now.offset)
            if run.number == 1 { throw MarkedError() }
        }
    }

    private func end(of work: SupervisedWork) async -> SupervisedWork.State {
        for await state in work.states where state.isFinal { return state }
        return work.state
    }

    @Test func aConditionThatBecomesTrueEndsTheDelay() async throws {
        let condition = Condition(false)
        let work = work(condition)
        try await begun.waitForEvents(count: 1)
        for await state in work.states { if case .waiting = state { break } }
        await clock.advance(by: .seconds(3))
        condition.input.yield(true)
        guard case .completed = await end(of: work) else {
            Issue.record("The work does not run again.")
            return
        }
        #expect(begun.events == [.zero, .seconds(3)])
        // The stream is no longer read.
        try await condition.ended.wait()
    }

    @Test func aConditionHoldsUpTheRunAfterItsDelay() async throws {
        let condition = Condition(false)
        let work = work(condition)
        for await state in work.states { if case .waiting = state { break } }
        await clock.advance(by: .seconds(100))
        guard case .waiting = work.state else {
            Issue.record("The work runs.")
            return
        }
        condition.input.yield(true)
        _ = await end(of: work)
        #expect(begun.events == [.zero, .seconds(100)])
    }

    @Test func aConditionThatIsMetLeavesTheDelay() async throws {
        let condition = Condition(true)
        let work = work(condition)
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(10))
        _ = await end(of: work)
        #expect(begun.events == [.zero, .seconds(10)])
    }

    @Test func aStreamThatEndsHoldsUpNothing() async throws {
        let condition = Condition(false)
        let work = work(condition)
        for await state in work.states { if case .waiting = state { break } }
        condition.input.finish()
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(10))
        _ = await end(of: work)
        #expect(begun.events == [.zero, .seconds(10)])
    }

    @Test func theEndOfTheWorkEndsItsCondition() async throws {
        for isStop in [true, false] {
            let condition = Condition(false)
            let work = work(condition)
            for await state in work.states { if case .waiting = state { break } }
            if isStop { await work.stop() } else { lifetime.cancelAll() }
            guard case .stopped = await end(of: work) else {
                Issue.record("The work is not stopped.")
                return
            }
            try await condition.ended.wait()
        }
        try await lifetime.drain()
        #expect(begun.events.count == 2)
    }

    @Test func aChildOfASupervisorWaitsForItsCondition() async throws {
        let (condition, supervisor, clock, begun) = (Condition(false), Supervisor(clock: clock), clock, begun)
        let work = supervisor.keepRunning(
            "feed",
            restart: .onFailure,
            backoff: .fixed(.seconds(10)),
            waitingFor: { condition.reports }
        ) { run in
            begun.record(clock.now.offset)
            if run.number == 1 { throw MarkedError() }
        }
        let running = Task { try await supervisor.run() }
        for await state in work.states { if case .waiting = state { break } }
        condition.input.yield(true)
        try await running.value
        #expect(begun.events == [.zero, .zero])
    }

    @Test func theWorkOfAnOwnerWaitsForItsCondition() async throws {
        final class Model: Sendable {}
        let (condition, model, begun) = (Condition(false), Model(), begun)
        let work = lifetime.keepRunning(
            "feed",
            for: model,
            restart: .onFailure,
            waitingFor: { condition.reports },
            clock: clock
        ) { () -> AsyncStream<Int> in
            begun.record(.zero)
            if begun.events.count == 1 { throw MarkedError() }
            return AsyncStream { $0.finish() }
        } deliver: { _, _ in
        }
        for await state in work.states { if case .waiting = state { break } }
        condition.input.yield(true)
        _ = await end(of: work)
        #expect(begun.events.count == 2)
    }
}
