import TaskControlTesting
import TestSupport
import Testing

@_spi(Observers) @testable import TaskControl

/// The actions that observers may take, and the events that they receive.
@Suite(.timeLimit(.minutes(15)))
struct ObserverTests {
    /// Answers the first events of a bag: the tasks that an answer starts have events, too.
    private final class Answering: TaskObserver {
        private let heard: OrderRecorder<TaskEvent>
        private let answer: @Sendable (TaskBag) -> Void
        private unowned let bag: TaskBag
        private let probe: DeinitProbe
        private let answers = Quota(3)

        init(
            _ bag: TaskBag,
            heard: OrderRecorder<TaskEvent>,
            gone: Gate,
            _ answer: @escaping @Sendable (TaskBag) -> Void
        ) {
            self.bag = bag
            self.heard = heard
            self.answer = answer
            probe = DeinitProbe(gone)
        }

        func receive(_ event: TaskEvent) {
            guard event.owner == TaskEvent.Identity(bag.registry.source.number) else { return }
            if ![.draining, .drained].contains(event.kind) { heard.record(event) }
            if answers.take() {
                answer(bag)
            }
        }
    }

    /// Adds a task to a bag that observers answer, and returns the events that each of them received.
    ///
    /// The bag outlives its observers. They may be released by a thread that reports an event of another test, and a bag that is released
    /// there reports the cancellation of its tasks as if that test had caused it.
    private func heard(by answers: (@Sendable (TaskBag) -> Void)...) async throws -> [[TaskEvent]] {
        let bag = TaskBag()
        let observers = answers.map { _ in (heard: OrderRecorder<TaskEvent>(), gone: Gate()) }
        let observations = zip(observers, answers).map { observer, answer in
            TaskDiagnostics.observe(Answering(bag, heard: observer.heard, gone: observer.gone, answer))
        }
        bag.addTask {}
        try await bag.drain()
        for observation in observations { observation.end() }
        for observer in observers { try await observer.gone.wait() }
        return withExtendedLifetime(bag) { observers.map(\.heard.events) }
    }

    @Test func anObserverDoesNotReceiveWhatItsCallCausesOnItsThread() async throws {
        let heard = try await heard { $0.addTask {} }
        #expect(heard[0].filter { $0.kind == .added }.count == 1)
        // The tasks that it has started are tasks like others.
        #expect(heard[0].filter { $0.kind == .completed }.count == 4)
    }

    @Test func otherObserversAreToldWhatAnObserverCauses() async throws {
        let heard = try await heard(by: { $0.addTask {} }, { _ in })
        #expect(heard[1].filter { $0.kind == .added }.count == 4)
    }

    #if SUBPROCESSES
    /// The first who asks for it makes it.
    @Test(.oneProcessAtATime) func anObserverMayUseTheQueueOfTheMainActor() async throws {
        await #expect(processExitsWith: .success) {
            struct Forwarding: TaskObserver {
                let calls = Quota(10)

                func receive(_ event: TaskEvent) {
                    if calls.take() {
                        Task(on: MainActor.queue) {}
                    }
                }
            }
            TaskDiagnostics.install(Forwarding())
            await Task(on: MainActor.queue) {}.value
        }
    }
    #endif

    @Test func anErrorThatCarriesOthersIsToldByThose() {
        struct Quiet: EventDescribable { var eventText: String { "quiet" } }
        struct Carrying: Error {
            let cause: any Error
            let secret = "hush"
        }
        enum Choice: Error { case one(any Error, secret: String), none(String) }
        #expect(Diagnostics.text(of: Carrying(cause: Quiet())) == "Carrying(quiet)")
        #expect(Diagnostics.text(of: Choice.one(Carrying(cause: Quiet()), secret: "hush")) == "Choice(Carrying(quiet))")
        #expect(Diagnostics.text(of: Choice.none("no")) == #"none("no")"#)
        let context = DecodingError.Context(codingPath: [], debugDescription: "hush")
        #expect(Diagnostics.text(of: DecodingError.dataCorrupted(context)) == "DecodingError.dataCorrupted")
    }

    @Test func errorsThatContainEachOtherHaveAText() {
        final class Attempt: Error, @unchecked Sendable { var request: (any Error)? }
        struct Request: Error { let attempts: [Attempt] }
        let attempt = Attempt()
        attempt.request = Request(attempts: [attempt])
        defer { attempt.request = nil }
        #expect(Diagnostics.text(of: attempt) == "Attempt(Request(Attempt(Request(Attempt))))")
    }

    @Test func twoObserversThatAnswerEachOtherComeToAnEnd() async throws {
        let heard = try await heard(by: { $0.addTask {} }, { $0.addTask {} })
        #expect(heard.allSatisfy { (3...100).contains($0.count) })
    }

    @Test func anObserverMayCallWhateverTellsIt() async throws {
        let (lifetime, bag, store) = (AsyncLifetime(), TaskBag(), TaskStore<Int>())
        let (queue, flights, semaphore) = (FIFOQueue(), SingleFlight<Int, Int>(), AsyncSemaphore(value: 2))
        let group = CancellableQueue(underlyingQueue: queue)
        let (count, reactions) = (OrderRecorder<Int>(), Quota(100))
        let events = try await EventLog.events { event in
            guard reactions.take() else { return }
            count.record(lifetime.count + bag.count + store.count + queue.count + group.count + flights.count)
            lifetime.cancelAll()
            bag.cancel()
            store.cancelTask(forKey: 1)
            store.addTask(forKey: 2) {}
            Task(on: group) {}
            group.cancelTasks()
            flights.cancelAll()
            if semaphore.tryAcquire() { semaphore.release() }
        } of: {
            AsyncTask {}.bind(to: lifetime)
            bag.addTask {}
            store.addTask(forKey: 1) {}
            _ = await Task(on: group) { () throws in }.result
            _ = try? await flights.value(for: 1) { 1 }
            try await semaphore.withPermit {}
            try await queue.run {}
            try? await retry(attempts: 2, backoff: .none) { throw MarkedError() }
            try await withTimeout(.seconds(100)) {}
            try await lifetime.drain()
            try await store.drain()
        }
        #expect(count.count == min(events.count, 100) && events.count > 20)
    }

    @Test func theEndOfAnOperationWithADeadlineHasTheErrorThatItsCallerReceives() async {
        let error = TimeoutError(duration: .seconds(1))
        let events = await EventLog.events {
            await #expect(throws: error) { try await withDeadline(in: .seconds(100)) { throw error } }
        }
        #expect(events.filter { $0.kind == .failed }.map(\.error) == [Diagnostics.text(of: error)])
    }

    @Test func anObserverOfAWaitFindsItsCallerInLine() async throws {
        let (semaphore, lengths) = (AsyncSemaphore(value: 1), OrderRecorder<Int>())
        try await semaphore.acquire()
        _ = try await EventLog.events { event in
            if event.kind == .waiting { lengths.record(semaphore.waiterCount) }
        } of: {
            let waiter = Task { try await semaphore.withPermit {} }
            try await lengths.waitForEvents(count: 1)
            semaphore.release()
            try await waiter.value
        }
        #expect(lengths.events == [1])
    }

    /// The newcomer of a key is created before an observer is called about the task that it replaces.
    @Test func anObserverDoesNotDelayTheTaskThatReplacesAnother() async throws {
        let (store, gate) = (TaskStore<Int>(), Gate())
        store.addTask(forKey: 1) { await gate.waitIgnoringCancellation() }
        let kinds = try await EventLog.events {
            store.addTask(forKey: 1) { gate.open() }
            try await store.drain()
        }.filter { $0.owner == store.registry.source.identity }.map(\.kind)
        #expect(kinds.first == .added && kinds.contains(.cancelled))
    }

    @Test func anObserverIsNotReenteredByTheTasksThatItStarts() async throws {
        final class Starting: TaskObserver {
            let queue = FIFOQueue()
            private let bag = TaskBag()
            private let quota = Quota(20)
            let reentries = OrderRecorder<Int>()
            private let threads = Locked<Set<TaskEvent.TaskIdentity>>([])

            func receive(_ event: TaskEvent) {
                // Of this test alone: a task that is started in a simulation of another test may never run.
                guard event.owner == queue._turns.source.identity || event.owner == bag.registry.source.identity,
                    let task = TaskEvent.TaskIdentity.current
                else { return }
                if !threads.withLock({ $0.insert(task).inserted }) { reentries.record(1) }
                if quota.take() { bag.addTask {} }
                _ = threads.withLock { $0.remove(task) }
            }

            func drain() async throws { try await bag.drain() }
        }
        let observer = Starting()
        let observation = TaskDiagnostics.observe(observer)
        for _ in 0..<10 { await Task(on: observer.queue) {}.value }
        try await observer.drain()
        observation.end()
        #expect(observer.reentries.events == [])
    }

    @Test func anObserverIsLetGoOfWhenItsObservationEnds() async throws {
        let (bag, gone) = (TaskBag(), Gate())
        do {
            let (probe, number) = (DeinitProbe(gone), bag.registry.source.number)
            let collector = Collector { event in
                withExtendedLifetime(probe) { event.owner == TaskEvent.Identity(number) }
            }
            let observation = TaskDiagnostics.observe(collector)
            bag.addTask {}
            try await bag.registry.drain()
            observation.end()
            observation.end()
            let count = collector.events.count
            #expect(count > 0)
            bag.addTask {}
            try await bag.registry.drain()
            #expect(collector.events.count == count)
        }
        // Another thread may be telling it something else at this moment.
        try await gone.wait()
    }

    #if SUBPROCESSES
    /// Otherwise a thread would have to wait for the calls of others.
    @Test(.oneProcessAtATime) func anObserverThatIsRemovedDuringACallIsReleasedByTheThreadOfThatCall() async {
        await #expect(processExitsWith: .success) {
            final class Leaving: TaskObserver {
                let observation = Locked<TaskDiagnostics.Registration?>(nil)
                private let bag = TaskBag()

                init(isRunning: Gate) {
                    bag.addTask {
                        isRunning.open()
                        await Gate().waitIgnoringCancellation()
                    }
                }

                func receive(_ event: TaskEvent) { observation.withLock { $0.take() }?.end() }
            }
            let collector = Collector { _ in true }
            TaskDiagnostics.install(collector)
            do {
                let isRunning = Gate()
                let leaving = Leaving(isRunning: isRunning)
                try await isRunning.wait()
                let observation = TaskDiagnostics.observe(leaving)
                leaving.observation.withLock { $0 = observation }
            }
            let task = Task {
                _ = AsyncLifetime()
                return TaskEvent.TaskIdentity.current
            }
            let caller = await task.value
            let cancelled = collector.events.filter { $0.primitive == .taskBag && $0.kind == .cancelled }
            precondition(cancelled.map(\.task) == [caller])
        }
    }

    @Test(.oneProcessAtATime) func eventsAreInTheTimeOfTheConfiguredClockAndNameTheTaskThatActs() async throws {
        await #expect(processExitsWith: .success) {
            let clock = TestClock()
            TaskDiagnostics.configure(TaskDiagnostics.Configuration(clock: clock))
            let collector = Collector { _ in true }
            TaskDiagnostics.install(collector)
            _ = AsyncLifetime()
            await clock.advance(by: .seconds(3))
            await Task { _ = AsyncLifetime() }.value
            precondition(collector.events.map(\.time) == [.zero, .zero, .seconds(3), .seconds(3)])
            precondition(collector.events[0].task != nil && collector.events[0].task != collector.events[2].task)
            try? await retry(attempts: 2, backoff: .fixed(.zero)) {
                await clock.advance(by: .seconds(2))
                throw MarkedError()
            }
            precondition(collector.events.last?.age == .seconds(2))
        }
    }

    @Test(.oneProcessAtATime) func timesOfAClockThatJumpsToAnEndOfItsRangeAreBounded() async {
        await #expect(processExitsWith: .success) {
            struct JumpingClock: Clock {
                struct Instant: InstantProtocol {
                    let offset: Duration

                    func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
                    func duration(to other: Self) -> Duration { other.offset - offset }
                    static func < (one: Self, other: Self) -> Bool { one.offset < other.offset }
                }

                let offset = Locked(Duration.zero)

                var now: Instant { Instant(offset: offset.withLock { $0 }) }
                var minimumResolution: Duration { .zero }
                func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
            }
            let (clock, longest) = (JumpingClock(), Duration.seconds(Int64.max) * 18)
            TaskDiagnostics.configure(TaskDiagnostics.Configuration(clock: clock))
            let collector = Collector { _ in true }
            TaskDiagnostics.install(collector)
            // The events of the call begin with its first failure.
            try? await retry(attempts: 2, backoff: .fixed(.zero)) { attempt in
                clock.offset.withLock { $0 = attempt == 1 ? .zero - longest : longest }
                throw MarkedError()
            }
            precondition(collector.events.last?.age ?? .zero > .seconds(Int64.max))
        }
    }

    @Test(.oneProcessAtATime) func textIsRedactedBeforeAnybodySeesItAndTheRedactionIsNotTold() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let (bag, calls) = (TaskBag(), Quota(10))
            let redact: @Sendable (String) -> String = { text in
                if calls.take() {
                    bag.addTask(name: "its own") {}
                }
                return text.contains("hush") ? "…" : text
            }
            TaskDiagnostics.configure(TaskDiagnostics.Configuration(debugLogging: true, redact: redact))
            let collector = Collector { _ in true }
            TaskDiagnostics.install(collector)
            let queue = FIFOQueue(name: "hush queue")
            await Task(name: "hush task", on: queue) {}.value
            _ = try? await withSingleFlight(key: "hush key") { throw MarkedError("hush error") }
            await AsyncTask { throw MarkedError("hush incident") }.detached().value
            _ = try? await withCancellableContinuation(of: Int.self, fileID: "hush/place") { _ in {} }
            precondition(!collector.events.contains { "\($0)".contains("hush") })
            precondition(
                collector.events.contains { $0.key == "…" } && collector.events.contains { $0.ownerName == "…" }
            )
            precondition(
                collector.events.contains { $0.error == "…" } && collector.events.contains { $0.taskName == "…" }
            )
            precondition(!collector.events.contains { $0.primitive == .taskBag && $0.kind == .added })
            precondition(collector.events.contains { $0.primitive == .taskBag })
        }
        #expect(text(result).contains("withSingleFlight.started") && !text(result).contains("hush"))
    }
    #endif

    /// A description that traps, since no code may build it.
    private struct Silent: Hashable, Error, CustomStringConvertible {
        var description: String { fatalError("a string was built") }
    }

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func nothingIsBuiltWhenNobodyListens() async throws {
        await #expect(processExitsWith: .success) {
            // Listening that has ended is not listening.
            TaskDiagnostics.configure(.init(debugLogging: true))
            TaskDiagnostics.configure(.init())
            await Self.doWithSilentWords()
            precondition(!(Diagnostics.moment != nil))
        }
        // And it is built if an observer needs it: the test above can fail.
        await #expect(processExitsWith: .failure) {
            TaskDiagnostics.install(Collector { _ in true })
            await Self.doWithSilentWords()
        }
    }
    #endif

    private static func doWithSilentWords() async {
        let store = TaskStore<Silent>()
        store.addTask(forKey: Silent()) {}
        store.addTask(forKey: Silent(), duplicateKeyBehavior: .preferPrevious) {}
        _ = try? await withSingleFlight(key: Silent()) { throw Silent() }
        _ = try? await SingleFlight<Silent, Int>().value(for: Silent()) { 1 }
        try? await retry(attempts: 2, backoff: .none) { throw Silent() }
        try? await withTimeout(.seconds(100)) { throw Silent() }
        _ = await Task(on: FIFOQueue()) { throw Silent() }.result
        await AsyncTask {
            throw Silent()
        } onError: { _ in
        }.detached().value
        _ = try? await withCancellableContinuation(of: Int.self) { continuation in
            continuation.resume(throwing: Silent())
            return {}
        }
    }
}
