import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The promises of a result that is set once.
///
/// On the main actor, as the callers are: a caller parks before another task of the main actor runs.
@MainActor @Suite(.timeLimit(.minutes(15)))
struct AsyncPromiseTests {
    private let promise = AsyncPromise<Int>(name: "promise")

    private func wait() -> Task<Int, any Error> { Task { try await promise.value } }

    /// Lets the tasks of the main actor that were created before park.
    private func letCallersPark() async { await Task { @MainActor in }.value }

    @Test func allCallersReceiveTheFirstResult() async throws {
        let callers = (0..<3).map { _ in wait() }
        await letCallersPark()
        #expect(promise.result == nil)
        #expect(promise.succeed(1))
        #expect(!promise.succeed(2) && !promise.fail(MarkedError()), "the first call counts")
        for caller in callers { #expect(try await caller.value == 1) }
        #expect(try await promise.value == 1, "and a caller that comes later")
        #expect(try promise.result?.get() == 1)
    }

    @Test func allCallersReceiveTheError() async throws {
        let caller = wait()
        await letCallersPark()
        #expect(promise.fail(MarkedError("no")))
        await #expect(throws: MarkedError("no")) { try await caller.value }
        await #expect(throws: MarkedError("no")) { try await promise.value }
        #expect(throws: MarkedError("no")) { try promise.result?.get() }
    }

    @Test func theResultOfACallbackIsAResult() async throws {
        #expect(promise.complete(with: Result<Int, MarkedError>.success(1)))
        let failed = AsyncPromise<Void>()
        #expect(failed.complete(with: Result<Void, MarkedError>.failure(MarkedError("typed"))))
        await #expect(throws: MarkedError("typed")) { try await failed.value }
    }

    @Test func aPromiseWithoutAValueSucceeds() async throws {
        let connected = AsyncPromise<Void>()
        #expect(connected.succeed())
        try await connected.value
    }

    @Test func aCancelledCallerLeavesAtOnceAndTheOthersWait() async throws {
        let callers = (0..<3).map { _ in wait() }
        await letCallersPark()
        callers[1].cancel()
        await #expect(throws: CancellationError.self) { try await callers[1].value }
        promise.succeed(1)
        #expect(try await callers[0].value == 1)
        #expect(try await callers[2].value == 1)
    }

    @Test func aCallerThatWasCancelledBeforeThrowsAlsoIfTheResultIsSet() async throws {
        promise.succeed(1)
        let caller = Task {
            cancelCurrentTask()
            return try await promise.value
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
    }

    @Test func aCancelledCallerReceivesNoOtherError() async throws {
        let caller = wait()
        await letCallersPark()
        promise.fail(MarkedError())
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
    }

    @Test func eachCallerHasALimitOfItsOwn() async throws {
        let clock = TestClock()
        let patient = wait()
        let limited = Task { try await withTimeout(.seconds(5), clock: clock) { try await promise.value } }
        await clock.advance(by: .seconds(5), waking: 1)
        await #expect(throws: TimeoutError.self) { try await limited.value }
        promise.succeed(1)
        #expect(try await patient.value == 1)
    }

    // MARK: Reset

    @Test func aPromiseThatIsResetHasAnotherResult() async throws {
        promise.succeed(1)
        promise.reset()
        #expect(promise.result == nil)
        let caller = wait()
        await letCallersPark()
        #expect(promise.succeed(2))
        #expect(try await caller.value == 2)
    }

    @Test func aCallerThatWaitedReceivesItsResultInSpiteOfAReset() async throws {
        let caller = wait()
        await letCallersPark()
        promise.succeed(1)
        promise.reset()
        promise.succeed(2)
        #expect(try await caller.value == 1, "the result of its wait, and not the next one")
    }

    @Test func aResetWithoutAResultLetsCallersWait() async throws {
        let caller = wait()
        await letCallersPark()
        promise.reset()
        promise.succeed(1)
        #expect(try await caller.value == 1)
    }

    // MARK: Memory and events

    @Test func aResultIsReleasedByAReset() throws {
        let gone = Gate()
        let promise = AsyncPromise<DeinitProbe>()
        promise.succeed(DeinitProbe(gone))
        #expect(!gone.isOpen)
        promise.reset()
        #expect(gone.isOpen)
    }

    @Test func aWaitIsToldFromItsBeginningToItsEnd() async throws {
        let events = try await EventLog.events {
            let promise = AsyncPromise<Int>(name: "observed")
            let callers = (0..<2).map { _ in Task { try await promise.value } }
            await letCallersPark()
            callers[0].cancel()
            _ = await callers[0].result
            promise.fail(MarkedError("no"))
            _ = await callers[1].result
            promise.reset()
            let last = Task { try await promise.value }
            await letCallersPark()
            promise.succeed(1)
            let values = try await [last.value, promise.value]
            #expect(values == [1, 1], "the second without a wait and an event")
        }
        #expect(
            events.map(\.kind)
                == [.created, .waiting, .waiting, .left, .failed, .waiting, .completed, .deallocated]
        )
        #expect(events.unpaired == [] && events.allSatisfy { $0.ownerName == "observed" })
    }
}
