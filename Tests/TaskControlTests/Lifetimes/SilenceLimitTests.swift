import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// `forEach(_:for:silenceLimit:)`.
@Suite(.timeLimit(.minutes(15)))
struct SilenceLimitTests {
    @MainActor private final class Model {
        let lifetime = AsyncLifetime()
        let handled = OrderRecorder<Int>()
        let errors = OrderRecorder<String>()

        func follow<Elements: AsyncSequence & SendableMetatype>(
            _ elements: sending Elements,
            within limit: Duration?,
            on clock: some Clock<Duration>,
            perform: @escaping @MainActor @Sendable (Int) async -> Void = { _ in }
        ) -> Task<DeliveryOutcome, Never> where Elements.Element == Int, Elements.AsyncIterator: SendableMetatype {
            lifetime.forEach(elements, for: self, silenceLimit: limit, clock: clock) { model, element in
                MainActor.assertIsolated()
                await perform(element)
                model.handled.record(element)
            } onError: { model, error in
                model.errors.record("\(error)")
            }
        }
    }

    private static let message = "\(TimeoutError(duration: .seconds(30)))"

    @MainActor @Test func aSilentSequenceFailsAtTheLimitAfterItsLastElement() async throws {
        let (model, clock, ended, waits) = (Model(), TestClock(), Gate(), OrderRecorder<Int>())
        let (stream, input) = AsyncStream<Int>.makeStream()
        input.onTermination = { _ in ended.open() }
        let task = model.follow(Announcing(elements: stream, waits: waits), within: .seconds(30), on: clock)
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(20))
        input.yield(1)
        // The second wait begins after 20 seconds.
        try await waits.waitForEvents(count: 2)
        await clock.advance(by: .seconds(10), waking: 1)
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(19))
        #expect(!task.isCancelled && model.errors.events == [])
        await clock.advance(by: .seconds(1))
        guard case .failed(let error) = await task.value else {
            Issue.record("The sequence is not silent.")
            return
        }
        #expect(error as? TimeoutError == TimeoutError(duration: .seconds(30)))
        #expect(model.errors.events == [Self.message] && model.handled.events == [1])
        // The wait was cancelled, and the task was not.
        try await ended.wait()
        #expect(!task.isCancelled && clock.sleeperCount == 0)
    }

    @MainActor @Test func theTimeInWhichAnElementIsHandledDoesNotCount() async throws {
        let (model, clock, began, proceed) = (Model(), TestClock(), Gate(), Gate())
        let (stream, input) = AsyncStream<Int>.makeStream()
        let task = model.follow(stream, within: .seconds(30), on: clock) { element in
            began.open()
            try? await proceed.wait()
            #expect(!Task.isCancelled)
        }
        input.yield(1)
        try await began.wait()
        await clock.advance(by: .seconds(1_000))
        input.yield(2)
        input.finish()
        proceed.open()
        guard case .delivered = await task.value else {
            Issue.record("The elements are not delivered.")
            return
        }
        #expect(model.handled.events == [1, 2] && model.errors.events == [])
    }

    /// The element has come, but its reader has had no thread until the limit: the clock decides.
    @MainActor @Test func anElementAtTheLimitIsLate() async throws {
        let (model, clock) = (Model(), TestClock())
        let task = model.follow(LateElements(clock: clock), within: .seconds(30), on: clock)
        guard case .failed(let error) = await task.value else {
            Issue.record("The element is in time.")
            return
        }
        #expect(error is TimeoutError && model.handled.events == [])
    }

    @MainActor @Test func anElementJustBeforeTheLimitIsInTime() async throws {
        let (model, clock) = (Model(), TestClock())
        let elements = LateElements(clock: clock, delay: .nanoseconds(29_999_999_999))
        guard case .delivered = await model.follow(elements, within: .seconds(30), on: clock).value else {
            Issue.record("The element is late.")
            return
        }
        #expect(model.handled.events == [1])
    }

    @MainActor @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func aLimitOfZeroOrLessEndsTheFirstWait(limit: Duration) async {
        let model = Model()
        let (stream, input) = AsyncStream<Int>.makeStream()
        input.yield(1)
        guard case .failed(let error) = await model.follow(stream, within: limit, on: ContinuousClock()).value else {
            Issue.record("The iteration does not end.")
            return
        }
        #expect(error is TimeoutError && model.handled.events == [])
    }

    @MainActor @Test func aCancellationIsNoSilence() async throws {
        let (model, clock) = (Model(), TestClock())
        let (stream, _) = AsyncStream<Int>.makeStream()
        let task = model.follow(stream, within: .seconds(30), on: clock)
        try await clock.waitForSleepers()
        model.lifetime.cancelAll(because: "the screen is gone")
        guard case .cancelled(let cause) = await task.value else {
            Issue.record("There is no cause.")
            return
        }
        #expect(
            cause == .requested(reason: "the screen is gone") && model.errors.events == [] && clock.sleeperCount == 0
        )
    }

    @MainActor @Test func theWorkSeesTheCauseOfACancellation() async throws {
        let (model, causes, began) = (Model(), OrderRecorder<CancellationCause?>(), Gate())
        let (stream, input) = AsyncStream<Int>.makeStream()
        let task = model.follow(stream, within: .seconds(30), on: TestClock()) { _ in
            began.open()
            try? await Gate().wait()
            causes.record(Task.cancellationCause)
        }
        input.yield(1)
        try await began.wait()
        model.lifetime.cancelAll(because: "closed")
        _ = await task.value
        #expect(causes.events == [.requested(reason: "closed")])
    }

    @MainActor @Test func theErrorOfTheSequenceIsHandedOn() async {
        let (model, clock) = (Model(), TestClock())
        let stream = AsyncThrowingStream<Int, any Error> { $0.finish(throwing: MarkedError("lost")) }
        guard case .failed(let error) = await model.follow(stream, within: .seconds(30), on: clock).value else {
            Issue.record("The error is lost.")
            return
        }
        #expect(error as? MarkedError == MarkedError("lost") && clock.sleeperCount == 0)
    }

    @MainActor @Test func aClockThatCannotSleepFailsTheIteration() async {
        let model = Model()
        let (stream, input) = AsyncStream<Int>.makeStream()
        guard case .failed(let error) = await model.follow(stream, within: .seconds(30), on: BrokenClock()).value else {
            Issue.record("The iteration does not end.")
            return
        }
        #expect(error is BrokenClock.Broken)
        withExtendedLifetime(input) {}
    }

    @Test func anActorReceivesTheErrorOfSilence() async throws {
        actor Store {
            var error: (any Error)?
            func fail(_ error: any Error) { self.error = error }
        }
        let (store, clock, lifetime) = (Store(), TestClock(), AsyncLifetime())
        let (stream, input) = AsyncStream<Int>.makeStream()
        let task = lifetime.forEach(stream, for: store, silenceLimit: .seconds(5), clock: clock) { _, _ in
        } onError: { store, error in
            store.fail(error)
        }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(5))
        _ = await task.value
        #expect(await store.error is TimeoutError)
        withExtendedLifetime(input) {}
    }

    /// Without a limit, an element is read by the task itself.
    @MainActor @Test func withoutALimitThereIsNoOtherTask() async {
        let (model, clock) = (Model(), TestClock())
        let (stream, input) = AsyncStream<Int>.makeStream()
        let task = model.follow(stream, within: nil, on: clock)
        input.yield(1)
        input.finish()
        _ = await task.value
        #expect(model.handled.events == [1] && clock.sleeperCount == 0)
    }
}

/// One element, whose wait takes time on a clock, and which ignores its cancellation.
private struct LateElements: AsyncSequence, AsyncIteratorProtocol {
    let clock: TestClock
    var delay = Duration.seconds(30)
    private var hasEnded = false

    init(clock: TestClock, delay: Duration = .seconds(30)) {
        (self.clock, self.delay) = (clock, delay)
    }

    func makeAsyncIterator() -> Self { self }

    mutating func next() async throws -> Int? {
        if hasEnded { return nil }
        hasEnded = true
        await clock.advance(by: delay)
        return 1
    }
}

/// The elements of another sequence; records when its iterator is asked for an element.
private struct Announcing<Elements: AsyncSequence>: AsyncSequence {
    let elements: Elements
    let waits: OrderRecorder<Int>

    func makeAsyncIterator() -> Iterator { Iterator(iterator: elements.makeAsyncIterator(), waits: waits) }

    struct Iterator: AsyncIteratorProtocol {
        var iterator: Elements.AsyncIterator
        let waits: OrderRecorder<Int>

        @concurrent mutating func next() async throws -> Elements.Element? {
            waits.record(waits.events.count)
            return try await iterator.next()
        }
    }
}
