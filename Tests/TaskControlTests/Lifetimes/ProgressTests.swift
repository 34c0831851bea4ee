import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// `run(for:reporting:)`: the owner receives the newest progress, in order, and none after the result.
@Suite(.timeLimit(.minutes(15)))
struct ProgressTests {
    @MainActor final class Model {
        let lifetime = AsyncLifetime()
        let slot = TaskSlot()
        var received: [String] = []

        func run(_ work: @escaping @Sendable (@escaping @Sendable (Int) -> Void) async throws -> String) -> Task<
            DeliveryOutcome, Never
        > {
            lifetime.run(for: self, reporting: Int.self) { report in
                try await work(report)
            } deliver: { model, value in
                MainActor.assertIsolated()
                model.received.append(value)
            } onProgress: { model, number in
                MainActor.assertIsolated()
                model.received.append("\(number)")
            } onError: { model, error in
                model.received.append("\(error)")
            }
        }
    }

    actor Counter {
        let lifetime = AsyncLifetime()
        var received: [Int] = []

        nonisolated func run() -> Task<DeliveryOutcome, Never> {
            lifetime.run(for: self, reporting: Int.self) { report in
                report(1)
                return 2
            } deliver: { counter, value in
                counter.received.append(value)
            } onProgress: { counter, number in
                counter.received.append(number)
            }
        }
    }

    @MainActor @Test func theLastValueComesBeforeTheResultAndNoneAfterIt() async {
        let model = Model()
        let late = Locked<(@Sendable (Int) -> Void)?>(nil)
        let task = model.run { report in
            late.withLock { $0 = report }
            // The main actor is free only when the test awaits below; all may come, but the last one must.
            for number in 1...100 { report(number) }
            return "done"
        }
        guard case .delivered = await task.value else {
            Issue.record("not delivered")
            return
        }
        late.withLock { $0 }?(101)
        #expect(model.received.suffix(2) == ["100", "done"])
        let numbers = model.received.compactMap { Int($0) }
        #expect(numbers == numbers.sorted())
    }

    @MainActor @Test func onlyTheNewestValueOfABusyOwnerIsReceived() async throws {
        let (model, first, proceed) = (Model(), Gate(), Gate())
        let task = model.lifetime.run(for: model, reporting: Int.self) { report in
            report(1)
            try await first.wait()
            for number in 2...9 { report(number) }
            proceed.open()
            return "done"
        } deliver: { model, value in
            model.received.append(value)
        } onProgress: { model, number in
            model.received.append("\(number)")
            first.open()
            try? await proceed.wait()
        }
        _ = await task.value
        #expect(model.received == ["1", "9", "done"])
    }

    @MainActor @Test func theLastValueComesBeforeTheError() async {
        let model = Model()
        _ = await model.run { report in
            report(1)
            throw MarkedError("failed")
        }.value
        #expect(model.received.count == 2 && model.received.first == "1")
    }

    @MainActor @Test func aCancelledTaskReportsNoProgress() async throws {
        let (model, begun, reported) = (Model(), Gate(), Gate())
        let task = model.run { report in
            begun.open()
            await reported.waitIgnoringCancellation()
            report(1)
            return "done"
        }
        try await begun.wait()
        model.lifetime.cancelAll()
        reported.open()
        guard case .undelivered = await task.value else {
            Issue.record("delivered")
            return
        }
        #expect(model.received == [])
    }

    @MainActor @Test func anOlderTaskOfASlotReportsNoProgressAfterANewerOneWasAdded() async throws {
        let (model, begun, older) = (Model(), Gate(), Gate())
        func upload(_ work: @escaping @Sendable (@escaping @Sendable (Int) -> Void) async -> Int) -> Task<
            DeliveryOutcome, Never
        > {
            model.slot.run(for: model, reporting: Int.self) { report in
                await work(report)
            } deliver: { model, number in
                model.received.append("\(number)")
            } onProgress: { model, number in
                model.received.append("\(number)")
            }
        }
        let first = upload { report in
            begun.open()
            await older.waitIgnoringCancellation()
            report(1)
            return 2
        }
        try await begun.wait()
        let second = upload { report in
            report(3)
            return 4
        }
        older.open()
        _ = await (first.value, second.value)
        #expect(model.received == ["3", "4"])
    }

    @Test func anActorReceivesProgressOnItself() async {
        let counter = Counter()
        _ = await counter.run().value
        #expect(await counter.received == [1, 2])
    }
}

/// `addTask(after:)` of a slot, and triggers that share a slot.
@Suite(.timeLimit(.minutes(15)))
struct DelayedActionTests {
    @Test func anActionRunsAfterItsDelayWhichANewerCallRestarts() async throws {
        let clock = TestClock()
        let slot = TaskSlot(clock: clock)
        let recorder = OrderRecorder<Int>()
        slot.addTask(after: .seconds(3)) { recorder.record(1) }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(2))
        let last = slot.addTask(after: .seconds(3)) { recorder.record(2) }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(2))
        #expect(recorder.events == [] && slot.isWaiting)
        await clock.advance(by: .seconds(1))
        await last.value
        #expect(recorder.events == [2] && slot.isEmpty)
    }

    @Test func anActionWithADelayIsCancelledByATaskWithoutOne() async {
        let slot = TaskSlot(clock: TestClock())
        let recorder = OrderRecorder<Int>()
        let delayed = slot.addTask(after: .seconds(3)) { recorder.record(1) }
        await slot.addTask { recorder.record(2) }.value
        await delayed.value
        #expect(recorder.events == [2])
    }

    @Test func anActionWithADelayWaitsInASlotThatWaits() async throws {
        let (slot, begun, ended) = (TaskSlot(behavior: .wait), Gate(), Gate())
        let recorder = OrderRecorder<Int>()
        slot.addTask {
            begun.open()
            try await ended.wait()
            recorder.record(1)
        }
        try await begun.wait()
        let delayed = slot.addTask(after: .zero) { recorder.record(2) }
        ended.open()
        await delayed.value
        #expect(recorder.events == [1, 2])
    }

    /// The recipe *The newest of several triggers*.
    @MainActor final class Feed {
        let (lifetime, loads) = (AsyncLifetime(), TaskSlot())
        var shown: [Int] = []
        let answers: @Sendable (Int) async -> Int

        init(_ answers: @escaping @Sendable (Int) async -> Int) { self.answers = answers }

        func follow(_ numbers: AsyncStream<Int>) {
            lifetime.forEach(numbers, for: self) { feed, number in feed.load(number) }
        }

        func load(_ number: Int) {
            loads.run(for: self) { [answers] in
                await answers(number)
            } deliver: { feed, answer in
                feed.shown.append(answer)
            }
        }
    }

    @MainActor @Test func onlyTheNewestOfSeveralTriggersIsShown() async throws {
        let (older, began) = (Gate(), Gate())
        let feed = Feed { number in
            if number < 3 {
                if number == 2 { began.open() }
                // Ignores its cancellation, and answers late.
                await older.waitIgnoringCancellation()
            }
            return number
        }
        let (numbers, source) = AsyncStream<Int>.makeStream()
        feed.follow(numbers)
        feed.load(1)
        source.yield(2)
        try await began.wait()
        feed.load(3)
        older.open()
        try await feed.loads.drain()
        #expect(feed.shown == [3])
    }
}
