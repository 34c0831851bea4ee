import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The promises of a bridge to a callback API.
///
/// On the main actor, as the callers are: when a test continues after `called.wait()`, the caller has parked.
@MainActor @Suite(.timeLimit(.minutes(15)))
struct CancellableContinuationTests {
    private let api = CallbackAPI()

    // MARK: Results

    @Test func theCallbacksValueIsTheCallers() async throws {
        let caller = Task { try await call(api) }
        try await api.called.wait()
        api.callBack(.success(7))
        #expect(try await caller.value == 7)
        #expect(api.cancellations.count == 0 && api.forgotten.isOpen)
    }

    @Test func theCallbacksErrorIsTheCallers() async throws {
        let caller = Task { try await call(api) }
        try await api.called.wait()
        api.callBack(.failure(MarkedError()))
        await #expect(throws: MarkedError()) { try await caller.value }
    }

    @Test func aCallbackInsideTheCallNeedsNoWaitAndItsHandleIsLetGo() async throws {
        #expect(try await call(api) { $0.callBack(.success(7)) } == 7)
        #expect(api.cancellations.count == 0, "there is nothing left to cancel")
        #expect(api.forgotten.isOpen)
        await #expect(throws: MarkedError()) { try await call(api) { $0.callBack(.failure(MarkedError())) } }
    }

    @Test func aCallbackFromAnotherThreadInsideTheCallIsRight() async throws {
        let value = try await call(api) { api in elsewhere { api.callBack(.success(7)) } }
        #expect(value == 7)
    }

    @Test func everyWayToResumeIsOne() async throws {
        try await withCancellableContinuation { continuation in
            continuation.resume()
            return {}
        }
        let typed: Int = try await withCancellableContinuation { continuation in
            continuation.resume(with: Result<Int, MarkedError>.success(1))
            return {}
        }
        let returned = try await withCancellableContinuation(of: Int.self) { continuation in
            continuation.resume(returning: 2)
            return {}
        }
        #expect((typed, returned) == (1, 2))
        await #expect(throws: MarkedError("typed")) {
            try await withCancellableContinuation(of: Int.self) { continuation in
                continuation.resume(with: Result<Int, MarkedError>.failure(MarkedError("typed")))
                return {}
            }
        }
        await #expect(throws: MarkedError("thrown")) {
            try await withCancellableContinuation(of: Int.self) { continuation in
                continuation.resume(throwing: MarkedError("thrown"))
                return {}
            }
        }
    }

    @Test func whatTheBodyThrowsIsTheCallers() async throws {
        await #expect(throws: MarkedError()) {
            try await withCancellableContinuation(of: Int.self) { _ -> CallbackAPI.Request in throw MarkedError() }
        }
    }

    // MARK: Callbacks that come too often

    @Test func theFirstOfSeveralCallbacksWinsAndTheOthersAreReported() async throws {
        let reported = await Incidents.shared.reported {
            let value = try? await call(api) { api in
                api.callBack(.success(1))
                api.callBack(.success(2))
            }
            #expect(value == 1)
            api.callBack(.failure(MarkedError("late")))
        }
        let texts = reported.incidents.map(\.description)
        #expect(texts.count == 2 && texts.allSatisfy { $0.contains("CancellableContinuationTests.swift:") })
        #expect(reported.incidents.allSatisfy { $0.severity == .warning })
        #expect(texts.first?.contains("resumedAgain detail=") == true)
        #expect(texts.first?.hasSuffix(", a value of the type Int") == true)
        #expect(texts.last?.contains(#"error=MarkedError(mark: "late")"#) == true)
    }

    @Test func repeatedCallbacksThatAreExpectedAreNotReported() async throws {
        let reported = await Incidents.shared.reported {
            let value = try? await withCancellableContinuation(of: Int.self, reportsRepeatedCallbacks: false) {
                for number in 1...5 { $0.resume(returning: number) }
                return {}
            }
            #expect(value == 1)
        }
        #expect(reported.excess == [.again, .again, .again, .again])
        #expect(reported.incidents.allSatisfy { $0.severity != .warning })
    }

    @Test func theCallbackThatAnswersACancellationIsToldFromOneMore() async throws {
        let reported = await Incidents.shared.reported {
            let caller = Task { try await call(api) }
            try? await api.called.wait()
            caller.cancel()
            await #expect(throws: CancellationError.self) { try await caller.value }
            api.callBack(.failure(MarkedError()))
            api.callBack(.failure(MarkedError()))
        }
        #expect(reported.excess == [.afterCancellation, .again])
    }

    @Test func aCallbackOfACallThatThrewIsReported() async throws {
        let reported = await Incidents.shared.reported {
            var kept: CancellableContinuation<Int>?
            await #expect(throws: MarkedError()) {
                try await withCancellableContinuation(of: Int.self) { continuation -> CallbackAPI.Request in
                    kept = continuation
                    throw MarkedError()
                }
            }
            kept?.resume(returning: 1)
            kept?.resume(returning: 2)
        }
        #expect(reported.excess == [.afterFailure, .again])
    }

    @Test func aCallbackThatCameBeforeTheBodyThrewWinsAndTheErrorIsReported() async throws {
        let reported = await Incidents.shared.reported {
            let value = try? await withCancellableContinuation(of: Int.self) { continuation -> CallbackAPI.Request in
                continuation.resume(returning: 7)
                throw MarkedError("thrown too")
            }
            #expect(value == 7)
        }
        #expect(reported.incidents.count == 1)
        #expect(Incidents.shared.unhandled(MarkedError("thrown too")).count == 1)
    }

    #if DEBUG
    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func onlyWhatIsAMistakeIsPrinted() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let kept = Locked<CancellableContinuation<String>?>(nil)
            _ = try? await withCancellableContinuation { continuation in
                kept.withLock { $0 = continuation }
                cancelCurrentTask()
                return {}
            }
            kept.withLock { $0 }?.resume(returning: "the answer")
            kept.withLock { $0 }?.resume(throwing: MarkedError("one too many"))
        }
        #expect(!text(result).contains("String"), "what answers a cancellation is no mistake")
        #expect(text(result).contains("one too many"))
    }
    #endif
    #endif

    // MARK: Dropped

    @Test func aDroppedContinuationThrowsInsteadOfHangingAndIsReported() async throws {
        let reported = await Incidents.shared.reported {
            let caller = Task { try await call(api) }
            try? await api.called.wait()
            api.letGo()
            let error = await #expect(throws: ContinuationDroppedError.self) { try await caller.value }
            #expect(error?.fileID == #fileID)
            #expect("\(error!)".contains("CancellableContinuationTests.swift:\(error!.line)"))
            #expect("\(error!)".contains("a path on which the callback is not called"))
        }
        #expect(reported.dropped == 1)
        #expect(api.cancellations.count == 0 && api.forgotten.isOpen)
    }

    @Test func aContinuationThatNobodyTakesIsDropped() async throws {
        let (result, line) = await (
            Task { try await withCancellableContinuation(of: Int.self) { _ in {} } }.result, #line as Int
        )
        #expect(throws: ContinuationDroppedError(line: line)) { try result.get() }
    }

    @Test func aDropThatFollowsACancellationIsACancellation() async throws {
        let reported = await Incidents.shared.reported {
            let caller = Task { try await call(api, whenCancelled: .waitForCallback) }
            try? await api.called.wait()
            caller.cancel()
            api.letGo()
            await #expect(throws: CancellationError.self) { try await caller.value }
        }
        #expect(reported.dropped == 1, "an API that is waited for should have called back")
    }

    @Test func whatIsDroppedWhenTheWaitIsOverIsNoMistake() async throws {
        let reported = await Incidents.shared.reported {
            let caller = Task { try await call(api) }
            try? await api.called.wait()
            caller.cancel()
            _ = try? await caller.value
            api.letGo()
            let another = CallbackAPI()
            _ = try? await call(another) { $0.callBack(.success(1)) }
            another.letGo()
        }
        #expect(reported.incidents.isEmpty)
    }

    // MARK: The caller's isolation

    private actor Account {
        private var log = NotSendable()

        /// Touches the actor's state inside, and returns what is not Sendable.
        func touch() async throws -> Int {
            let back = try await withCancellableContinuation(of: NotSendable.self) { continuation in
                assertIsolated()
                log.count += 1
                Thread.detachNewThread { continuation.resume(returning: NotSendable(41)) }
                return {}
            }
            assertIsolated()
            return back.count + log.count
        }
    }

    private final class NotSendable {
        var count: Int

        init(_ count: Int = 0) { self.count = count }
    }

    @TaskLocal private static var tint = "none"

    @Test func theBodyIsInTheCallersIsolationAndTask() async throws {
        #expect(try await Account().touch() == 42)
        var touched = 0
        try await Self.$tint.withValue("blue") {
            try await withCancellableContinuation { continuation in
                MainActor.assertIsolated()
                touched += 1
                #expect(Self.tint == "blue")
                Thread.detachNewThread { continuation.resume() }
                return {}
            }
            MainActor.assertIsolated()
        }
        #expect(touched == 1)
    }

    // MARK: Nothing stays

    /// Runs enqueued jobs at once: a thread that resumes one of its tasks runs the task up to its next suspension.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private final class InlineExecutor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func theHandleIsLetGoBeforeTheCallerGoesOn() async throws {
        let caller = Task.detached(executorPreference: InlineExecutor()) { [api] in
            let value = try await withCancellableContinuation(of: Int.self) { continuation in
                api.load { continuation.resume(with: $0) }
            }
            #expect(api.forgotten.isOpen)
            return value
        }
        #expect(api.called.isOpen, "it has parked")
        api.callBack(.success(7))
        #expect(try await caller.value == 7)
    }

    @Test(arguments: Ending.allCases)
    func nothingIsLeftOfABridge(ending: Ending) async throws {
        let trace = Trace()
        let caller = Task {
            try await withCancellableContinuation(of: Int.self) { continuation in
                trace.token = continuation._token
                if ending == .early { continuation.resume(returning: 1) }
                if ending == .thrown { throw MarkedError() }
                return api.load { continuation.resume(with: $0) }
            }
        }
        if ending != .thrown { try await api.called.wait() }
        if ending == .late { api.callBack(.success(1)) }
        if ending == .cancelled { caller.cancel() }
        if ending == .dropped { api.letGo() }
        let result = await caller.result
        #expect((try? result.get()) == (ending == .early || ending == .late ? 1 : nil))
        api.letGo()
        #expect(trace.token == nil)
    }

    enum Ending: CaseIterable { case early, late, thrown, cancelled, dropped }

    @MainActor private final class Trace {
        weak var token: _BridgeToken?
    }

    @Test func whatIsOverKeepsNothing() async throws {
        let kept = Locked<CancellableContinuation<CallbackAPI>?>(nil)
        try await requireDeallocated {
            try await withCancellableContinuation { continuation in
                kept.withLock { $0 = continuation }
                continuation.resume(returning: CallbackAPI())
                return {}
            }
        }
        // A result that comes too late is not kept, nor is the handle.
        let handle = Gate()
        let caller = Task {
            try await withCancellableContinuation(of: CallbackAPI.self) { continuation in
                kept.withLock { $0 = continuation }
                let probe = DeinitProbe(handle)
                return { withExtendedLifetime(probe) {} }
            }
        }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        try await requireDeallocated {
            let value = CallbackAPI()
            kept.withLock { $0 }?.resume(returning: value)
            return value
        }
    }

    @Test func theContinuationGoesWithItsLastCopy() async throws {
        let (gone, api) = (Gate(), CallbackAPI())
        let caller = Task {
            try await withCancellableContinuation(of: Int.self) { continuation in
                let probe = DeinitProbe(gone)
                return api.load { result in withExtendedLifetime(probe) { continuation.resume(with: result) } }
            }
        }
        try await api.called.wait()
        api.callBack(.success(1))
        #expect(try await caller.value == 1)
        #expect(!gone.isOpen)
        api.letGo()
        #expect(gone.isOpen)
    }
}

/// Does something on another thread, and waits for its end.
func elsewhere(_ action: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        action()
        done.signal()
    }
    done.wait()
}
