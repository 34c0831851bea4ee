import TaskControlTesting
import Testing

@testable import TaskControl

/// The causes of cancellations: of the tasks of owners and queues, of operations with a time limit, and of flights.
@Suite struct CancellationCauseTests {
    /// Waits for the cancellation of the running task, and returns its cause.
    private static func causeOfCancellation() async -> CancellationCause? {
        let gate = Gate()
        try? await gate.wait()
        return Task.cancellationCause
    }

    /// Runs in a task of an owner until that is cancelled.
    private func cause(
        of cancel: (TaskStore<String>) -> Void
    ) async -> CancellationCause? {
        let (store, started) = (TaskStore<String>(name: "store"), Gate())
        let (stream, continuation) = AsyncStream<CancellationCause?>.makeStream()
        let task = store.addTask(forKey: "key") {
            started.open()
            continuation.yield(await Self.causeOfCancellation())
        }
        try? await started.wait()
        cancel(store)
        await task.value
        // The handle keeps the address from being used again.
        #expect(CancellationCauses.cause(of: task.handle.address) == nil, "the cause is forgotten with the task")
        var causes = stream.makeAsyncIterator()
        return await causes.next() ?? nil
    }

    @Test func aTaskThatIsNotCancelledHasNoCause() async {
        #expect(Task.cancellationCause == nil)
        await Task { #expect(Task.cancellationCause == nil) }.value
    }

    @Test func aTaskThatOtherCodeCancelsHasAnUnknownCause() async {
        let task = Task { await Self.causeOfCancellation() }
        task.cancel()
        #expect(await task.value == .unknown)
    }

    @Test func cancelAllIsARequest() async {
        #expect(await cause { $0.cancelAll() } == .requested(reason: nil))
        #expect(await cause { $0.cancelAll(because: "signed out") } == .requested(reason: "signed out"))
        #expect(await cause { $0.cancelTask(forKey: "key") } == .requested(reason: nil))
        #expect(
            await cause { ($0 as any TaskOwner).cancelAll(because: "signed out") } == .requested(reason: "signed out")
        )
    }

    @Test func closeIsAShutdown() async {
        #expect(await cause { $0.close() } == .shutdown(name: "store"))
    }

    @Test func otherCodeCancelsAnOperationWithItsCause() async throws {
        let cancel = Locked<(@Sendable (CancellationCause) -> Void)?>(nil)
        let result = await withCancellation { cancelling in
            cancel.withLock { $0 = cancelling }
        } operation: {
            cancel.withLock(\.self)?(.leaseLost(name: "job"))
            #expect(Task.isCancelled, "the call sets the flag")
            return await Self.causeOfCancellation()
        }
        #expect(try result.get() == .leaseLost(name: "job"))
        // Without an effect after the end.
        cancel.withLock(\.self)?(.leaseLost(name: "job"))
        #expect(CancellationCause.leaseLost(name: "job").description == "lease lost: job")
    }

    @Test func anOperationOfACancelledCallerHasTheCauseOfTheCaller() async throws {
        let (bag, started) = (TaskBag(name: "bag"), Gate())
        let (stream, continuation) = AsyncStream<CancellationCause?>.makeStream()
        bag.addTask {
            let result = await withCancellation { _ in
            } operation: {
                started.open()
                return await Self.causeOfCancellation()
            }
            continuation.yield(try? result.get())
        }
        try await started.wait()
        bag.cancelAll(because: "signed out")
        var causes = stream.makeAsyncIterator()
        #expect(await causes.next() == .requested(reason: "signed out"))
    }

    @Test func anOperationOfACallerThatWasCancelledBeforeDoesNotBegin() async {
        let task = Task {
            await withCancellation { _ in
            } operation: {
                1
            }
        }
        task.cancel()
        let result = await task.value
        if case .success = result { return }
        #expect(throws: CancellationError.self) { try result.get() }
    }

    @Test func anOperationThatWasCancelledBeforeItsBeginningDoesNotBegin() async {
        let result = await withCancellation { cancel in
            cancel(.leaseLost(name: "job"))
        } operation: {
            Issue.record("It was cancelled before.")
        }
        #expect(throws: CancellationError.self) { try result.get() }
    }

    @Test func aNewerTaskOfTheKeySupersedes() async {
        #expect(await cause { $0.addTask(forKey: "key") {} } == .superseded(key: "key"))
    }

    @Test func theFirstCauseCounts() async {
        let causes = await cause {
            $0.addTask(forKey: "key") {}
            $0.close()
        }
        #expect(causes == .superseded(key: "key"))
    }

    @Test func aDeallocatedOwnerIsTheCause() async {
        var bag: TaskBag? = TaskBag(name: "bag")
        let (started, (stream, continuation)) = (Gate(), AsyncStream<CancellationCause?>.makeStream())
        bag?.addTask {
            started.open()
            continuation.yield(await Self.causeOfCancellation())
        }
        try? await started.wait()
        bag = nil
        var causes = stream.makeAsyncIterator()
        #expect(await causes.next() == .ownerDeallocated(name: "bag"))
    }

    @Test func shutdownIsTheCauseAfterTheGracePeriod() async {
        let (bag, started, (stream, continuation)) = (TaskBag(), Gate(), AsyncStream<CancellationCause?>.makeStream())
        bag.addTask {
            started.open()
            continuation.yield(await Self.causeOfCancellation())
        }
        try? await started.wait()
        await bag.shutdown(grace: .zero)
        var causes = stream.makeAsyncIterator()
        #expect(await causes.next() == .shutdown(name: nil))
    }

    @Test func anOperationWithATimeLimitHasTheCauseOfItsCaller() async {
        let (bag, started, (stream, continuation)) = (TaskBag(), Gate(), AsyncStream<CancellationCause?>.makeStream())
        bag.addTask {
            defer { continuation.finish() }
            _ = try? await withTimeout(.seconds(1000)) {
                try await withDeadline(in: .seconds(100)) {
                    started.open()
                    continuation.yield(await Self.causeOfCancellation())
                }
            }
        }
        try? await started.wait()
        bag.cancelAll(because: "signed out")
        var count = 0
        for await cause in stream {
            #expect(cause == .requested(reason: "signed out"))
            count += 1
        }
        #expect(count == 1)
    }

    @Test func aTimeLimitIsTheCause() async throws {
        let clock = TestClock()
        let (stream, continuation) = AsyncStream<CancellationCause?>.makeStream()
        let caller = Task {
            _ = try? await withTimeout(.seconds(1), clock: clock) {
                continuation.yield(await Self.causeOfCancellation())
            }
            _ = try? await withDeadline(in: .seconds(1), clock: clock) {
                continuation.yield(await Self.causeOfCancellation())
            }
            return Task.cancellationCause
        }
        var causes = stream.makeAsyncIterator()
        for _ in 0..<2 {
            try await clock.waitForSleepers()
            await clock.advance(by: .seconds(1))
            #expect(await causes.next() == .deadline)
        }
        #expect(await caller.value == nil, "the caller itself is not cancelled")
    }

    @Test func theLastCallerOfAFlightIsTheCause() async throws {
        let (flights, started) = (SingleFlight<Int, Void>(), [Gate(), Gate()])
        let (stream, continuation) = AsyncStream<CancellationCause?>.makeStream()
        var causes = stream.makeAsyncIterator()
        func caller(_ number: Int) -> Task<Void, any Error> {
            Task {
                try await flights.value(for: 1) {
                    started[number].open()
                    continuation.yield(await Self.causeOfCancellation())
                }
            }
        }
        let first = caller(0)
        try await started[0].wait()
        first.cancel()
        #expect(await causes.next() == .lastCallerLeft)
        _ = await first.result
        let second = caller(1)
        try await started[1].wait()
        flights.cancelAll(because: "offline")
        _ = await second.result
        #expect(await causes.next() == .requested(reason: "offline"))
    }

    @Test func aChildTaskOfOtherCodeHasAnUnknownCause() async {
        let (bag, started, (stream, continuation)) = (TaskBag(), Gate(), AsyncStream<CancellationCause?>.makeStream())
        bag.addTask {
            async let cause = Self.causeOfCancellation()
            started.open()
            continuation.yield(await cause)
            continuation.yield(Task.cancellationCause)
        }
        try? await started.wait()
        bag.cancelAll(because: "signed out")
        var causes = stream.makeAsyncIterator()
        #expect(await causes.next() == .unknown)
        #expect(await causes.next() == .requested(reason: "signed out"))
    }

    @Test func aTaskThatOtherCodeCancelledFirstKeepsTheUnknownCause() async {
        let causes = TaskStore<Int>()
        let (started, reader) = (Gate(), Gate())
        let (stream, continuation) = AsyncStream<CancellationCause?>.makeStream()
        let task = causes.addTask(forKey: 1) {
            started.open()
            await reader.waitIgnoringCancellation()
            continuation.yield(Task.cancellationCause)
        }
        try? await started.wait()
        task.cancel()
        causes.cancelAll()
        reader.open()
        await task.value
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == .unknown)
    }

    @Test func asyncTasksHaveCauses() async {
        let (stream, continuation) = AsyncStream<CancellationCause?>.makeStream()
        var causes = stream.makeAsyncIterator()
        func task() async -> AsyncTask {
            let started = Gate()
            let task = AsyncTask {
                started.open()
                continuation.yield(await Self.causeOfCancellation())
            }
            try? await started.wait()
            return task
        }
        let lifetime = AsyncLifetime(name: "screen")
        let (cancelled, bound, moved) = (await task(), await task().bind(to: lifetime), await task().bind(to: lifetime))
        cancelled.cancel()
        #expect(await causes.next() == .requested(reason: nil))
        moved.detached()
        lifetime.close()
        #expect(await causes.next() == .shutdown(name: "screen"))
        await bound.value
        moved.cancel()
        #expect(await causes.next() == .requested(reason: nil))
        await moved.value
        for ended in [cancelled, bound, moved] {
            await ended.value
            #expect(CancellationCauses.cause(of: ended.task.address) == nil, "the cause is forgotten with the task")
        }
    }

    @Test func aTaskThatHasEndedLeavesNoCauseInALifetime() async {
        let (lifetime, closed) = (AsyncLifetime(), AsyncLifetime())
        let task = AsyncTask {}
        task.cancel()
        await task.value
        task.bind(to: lifetime)
        closed.close()
        task.bind(to: closed).detached()
        #expect(CancellationCauses.cause(of: task.task.address) == nil)
    }

    @Test func tasksOfAGroupOfAQueueHaveCauses() async throws {
        let group = CancellableQueue(underlyingQueue: FIFOQueue(name: "uploads"))
        let started = Gate()
        let task = Task(on: group) {
            started.open()
            return await Self.causeOfCancellation()
        }
        try await started.wait()
        group.cancelAll(because: "offline")
        #expect(await task.value == .requested(reason: "offline"))
        group.close()
        #expect(await Task(on: group) { Task.cancellationCause }.value == .shutdown(name: "uploads"))
    }
}
